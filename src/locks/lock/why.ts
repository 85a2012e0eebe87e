import type { ClientInfo, WhyNotAcquired } from '../../errors.ts'
import { HoldfastError, RedisUnavailableError } from '../../errors.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Hold } from '../../lease/hold.ts'
import type { Clients } from '../../local/clients.ts'
import type { HolderFacts } from '../../servers/answers.ts'
import type { Sight, Waiter } from '../../waiting/waiter.ts'

/** What of a lock object an explanation is about. */
interface LockObject {
  readonly name: string
  readonly rawName: string
  readonly registry: {
    readonly clock: Clock
    readonly clients: Clients
    readonly limits: { readonly commandTimeoutMs: number }
    find(rawName: string): LocalLock | undefined
  }
  peek(): Promise<HolderFacts>
}

interface LocalLock {
  readonly holds: { readonly exclusive: Hold | undefined }
  readonly sight: Sight | undefined
}

/** An explanation before it is put into words, which few ask for. */
export interface Facts extends Omit<WhyNotAcquired, 'text'> {
  /** Why it failed, if it did. */
  readonly reason?: unknown
}

/** Owners of Redisson begin with a UUID, and its tokens are no time. */
const OF_HOLDFAST = /^[\w-]{21}:/

/** What is known when an attempt has come to nothing. @param reason why it failed, if it did */
export function whyNot(lock: LockObject, waiter: Waiter, reason?: unknown): Facts | undefined {
  const isAborted = reason !== undefined && !(reason instanceof HoldfastError)
  // One of several that was left for the sake of another.
  if (waiter.isForAnother || (isAborted && waiter.sight === undefined)) return undefined
  const { name, rawName, registry } = lock
  const local = registry.find(rawName)
  const own = local?.holds.exclusive
  const now = registry.clock.now()
  // Of those who wait in a client only the first asks.
  const shared = local?.sight
  const isRecent = shared !== undefined && now.monotonic - shared.at.monotonic <= waiter.waitedMs
  const sight = waiter.sight ?? (isRecent ? shared : undefined)
  const seen = sight?.seen
  const holder = own?.id.wireOwner ?? (seen?.holder || null)
  const isAged = holder !== null && OF_HOLDFAST.test(holder)
  const ownMs = own && Math.round(now.monotonic - own.beganAt)
  const ttlMs = own === undefined ? (seen?.ttlMs ?? -1) : Math.round(own.remainingMs())
  const facts: Facts = {
    name,
    outcome: outcomeOf(reason),
    holder,
    process: holder === null ? null : registry.clients.find(holder),
    ageMs: isAged ? (ownMs ?? seen?.ageMs ?? null) : null,
    ttlMs: holder === null || ttlMs < 0 ? null : ttlMs,
    queuePosition: waiter.queuePosition ?? null,
    queueLength: seen?.length ?? null,
    at: (own === undefined && sight ? sight.at : now).wall,
    reason,
  }
  if (reason instanceof RedisUnavailableError) reason.why = told(facts)
  return facts
}

/** What is known of the last attempt, or by now where nothing is; with who the holder is. */
export async function askWhy(lock: LockObject, last: Facts | undefined): Promise<WhyNotAcquired> {
  const isKnown = last !== undefined && (last.outcome !== 'held' || last.holder !== null)
  const facts = isKnown ? last : await askNow(lock)
  const { holder, process } = facts
  if (facts.outcome !== 'held' || holder === null || process !== null) return told(facts)
  const { clients, limits } = lock.registry
  const found =
    clients.find(holder) ?? (await clients.ask(holder, limits.commandTimeoutMs).catch(() => null))
  return told({ ...facts, process: found })
}

async function askNow(lock: LockObject): Promise<Facts> {
  const { holder, ttlMs } = await lock.peek()
  const { clock, clients } = lock.registry
  return {
    name: lock.name,
    outcome: holder === null ? 'free' : 'held',
    holder,
    process: holder === null ? null : clients.find(holder),
    ageMs: null,
    ttlMs,
    queuePosition: null,
    queueLength: null,
    at: clock.now().wall,
  }
}

function outcomeOf(reason: unknown): WhyNotAcquired['outcome'] {
  if (reason instanceof RedisUnavailableError) return 'outage'
  return reason instanceof HoldfastError ? 'failed' : 'held'
}

/** The same in words. */
export function told({ reason, ...facts }: Facts): WhyNotAcquired {
  return { ...facts, text: textOf(facts, reason) }
}

function textOf(facts: Facts, reason: unknown): string {
  const { name, outcome, queuePosition, queueLength } = facts
  if (reason instanceof HoldfastError) return reason.message
  if (outcome === 'free') return `Nobody has lock "${name}" now.`
  const queue =
    queuePosition === null
      ? queueLength === null
        ? ''
        : ` ${queueLength} in its queue.`
      : ` Its place in the queue was ${queuePosition}.`
  return `Lock "${name}" ${heldBy(facts) ?? 'was not to be had'}.${queue}`
}

/** As in "held by app-3:4711 for 12 s"; undefined where nobody knows who has it. */
export function heldBy({ holder, process, ageMs, ttlMs }: Omit<Facts, 'name'>): string | undefined {
  if (holder === null) return undefined
  const who = process === null ? holder : `${printedProcess(process)}, as ${holder},`
  const age = ageMs === null ? '' : ` for ${printedMs(ageMs)}`
  const left = ttlMs === null ? '' : `, and ${printedMs(ttlMs)} are left of its lease`
  return `is held by ${who}${age}${left}`
}

function printedProcess({ label, host, pid }: ClientInfo): string {
  return label === `${host}:${pid}` ? label : `${label} (${host}:${pid})`
}

function printedMs(ms: number): string {
  if (ms < 1_000) return `${ms} ms`
  return ms < 120_000 ? `${Math.round(ms / 1_000)} s` : `${Math.round(ms / 60_000)} min`
}
