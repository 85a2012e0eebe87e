import { HoldfastError, RedisUnavailableError } from '../../errors.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Hold } from '../../lease/hold.ts'
import type { Clients } from '../../local/clients.ts'
import type { HolderFacts } from '../../servers/facts.ts'
import { isOfHoldfast } from '../../servers/owner-id.ts'
import type { Sight } from '../../waiting/sight.ts'
import type { Waiter } from '../../waiting/waiter.ts'
import type { WhyNotAcquired } from '../../why-not-acquired.ts'
import { sentenceOf, type WhyFacts } from './why-text.ts'

interface RefusedLock {
  readonly name: string
  readonly rawName: string
  readonly registry: {
    readonly clock: Clock
    readonly clients: Clients
    readonly limits: { readonly commandTimeoutMs: number }
    find(rawName: string): SightedLock | undefined
  }
  peek(): Promise<HolderFacts>
}

interface SightedLock {
  readonly holds: { readonly exclusive: Hold | undefined }
  readonly sight: Sight | undefined
  /**
   * True if the client receives the message of each release, because its subscription is confirmed.
   */
  readonly listensForReleases: boolean
}

/**
 * If an answer is not older than this, in milliseconds, the holder in the answer counts as the
 * current holder.
 */
const RECENT_MS = 2_000

/**
 * Returns the facts of a failed attempt, without the text. Undefined if the client has nothing to
 * explain. Adds the explanation to a `RedisUnavailableError`.
 *
 * @param reason the error of the attempt; undefined if the lock was held
 */
export function whyNot(lock: RefusedLock, waiter: Waiter, reason?: unknown): WhyFacts | undefined {
  const isAborted = reason !== undefined && !(reason instanceof HoldfastError)
  // There is nothing to explain if a multi-lock gave up this lock because of another lock, or if
  // the caller aborted before the first answer.
  if (waiter.isForAnother || (isAborted && waiter.sight === undefined)) return undefined
  const { name, rawName, registry } = lock
  const local = registry.find(rawName)
  const own = local?.holds.exclusive
  const now = registry.clock.now()
  // Usually only the first waiter of a client for a lock sends requests. A waiter without an answer
  // uses the last answer to another waiter, if this answer arrived during its own wait.
  const shared = local?.sight
  const isRecent = shared !== undefined && now.monotonic - shared.at.monotonic <= waiter.waitedMs
  const sight = waiter.sight ?? (isRecent ? shared : undefined)
  const holder = own?.id.ownerId ?? sight?.holder ?? null
  const seenAgoMs = own || !sight ? 0 : now.monotonic - sight.at.monotonic
  // An older state is also current if this client receives the message of each release. The client
  // also checks the lock when the lease ends.
  const isCurrent = seenAgoMs <= RECENT_MS || local?.listensForReleases === true
  const at = isCurrent || sight === undefined ? now : sight.at
  const heldSince = own?.beganAt ?? sight?.heldSince ?? null
  // In an answer, the age of a hold comes from the time in its token. A hold of Redisson has no
  // such token.
  const isAged = holder !== null && heldSince !== null && isOfHoldfast(holder)
  const endsAt = sight?.endsAt ?? null
  const leftMs = own?.remainingMs() ?? (endsAt === null ? 0 : endsAt - at.monotonic)
  const facts: WhyFacts = {
    name,
    outcome: outcomeOf(reason),
    holder,
    process: holder === null ? null : registry.clients.find(holder),
    ageMs: isAged ? Math.round(at.monotonic - heldSince) : null,
    ttlMs: holder === null || leftMs <= 0 ? null : Math.round(leftMs),
    queuePosition: waiter.queuePosition ?? null,
    queueLength: sight?.queueLength ?? null,
    at: at.wall,
    reason,
    // If the answer is not recent, the holder may have renewed its lease since.
    isLeastTtl: isCurrent && seenAgoMs > RECENT_MS,
  }
  if (reason instanceof RedisUnavailableError) reason.why = withText(lock, facts)
  return facts
}

/**
 * Explains the last failed attempt. Explains the current state if no attempt has failed, or if the
 * lock was held by an unknown holder. Looks up the process of a holder whose process is unknown.
 */
export async function findReason(
  lock: RefusedLock,
  last: WhyFacts | undefined,
): Promise<WhyNotAcquired> {
  const isKnown = last !== undefined && (last.outcome !== 'held' || last.holder !== null)
  const facts = isKnown ? last : await inspectNow(lock)
  const { holder } = facts
  if (facts.outcome !== 'held' || holder === null || facts.process !== null) {
    return withText(lock, facts)
  }
  const { clients, limits } = lock.registry
  const process =
    clients.find(holder) ??
    (await clients.fetchInfo(holder, limits.commandTimeoutMs).catch(() => null))
  return withText(lock, { ...facts, process })
}

async function inspectNow(lock: RefusedLock): Promise<WhyFacts> {
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

export function withText(
  { registry }: Pick<RefusedLock, 'registry'>,
  facts: WhyFacts,
): WhyNotAcquired {
  const { reason, isLeastTtl: _, ...known } = facts
  if (reason instanceof HoldfastError) return { ...known, text: reason.message }
  const agoMs = registry.clock.now().wall - facts.at
  const nearness = facts.holder === null ? 'elsewhere' : registry.clients.nearnessOf(facts.holder)
  return { ...known, text: sentenceOf(facts, agoMs, nearness) }
}
