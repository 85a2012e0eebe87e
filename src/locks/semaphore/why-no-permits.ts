import type { ClientInfo, WhyNotAcquired } from '../../errors.ts'
import { printable, printedMs } from '../../kit/printable.ts'
import type { Clients } from '../../local/clients.ts'
import { clientOf, type WaitingForPermits } from '../../servers/answers.ts'
import { permitsOf } from '../../servers/permit-pool.ts'
import { permitsIn } from './semaphore-words.ts'

/** Why permits are not available: their holders, the waiters, or that no client has set their number. */
export interface WhyNoPermits extends WhyNotAcquired {
  /** The total number of permits; null if no client has set it, and for a semaphore without leases. */
  readonly permits: number | null
  /** How many permits are available; below 0 if fewer are set than are taken. */
  readonly available: number
  /** How many permits are taken; null for a semaphore without leases, because the server does not count them. */
  readonly taken: number | null
  /** The known holders. The holder that has held permits for the longest comes first. */
  readonly holders: readonly PermitOwner[]
  /** The clients that wait, the next one first; null if unknown. */
  readonly waiting: readonly WaitingForPermits[] | null
}

/** One acquisition that holds permits. */
export interface PermitOwner {
  /** The owner as Redis stores it: `<clientId>:<owner>:<permits>`. */
  readonly owner: string
  /** The client of the holder; null if unknown. */
  readonly process: ClientInfo | null
  /** How many permits the acquisition holds. */
  readonly permits: number
  /** How long the acquisition has held permits, in milliseconds. */
  readonly ageMs: number
}

/** The last known state of a semaphore. */
interface SemaphoreSight {
  readonly name: string
  /** The calls that set the number of permits. */
  readonly setBy: string
  readonly isSet: boolean
  readonly available: number
  readonly taken: number | null
  readonly holders: readonly { readonly owner: string; readonly ageMs: number; permits?: number }[]
  readonly waiting: readonly WaitingForPermits[] | null
}

/** Finds the process of a client, if it is already known. */
interface KnownClients {
  readonly clientId: string
  readonly clients: { find(owner: string): ClientInfo | null }
}

/** Asks the server for the process of a client. */
interface Asking {
  readonly clients: Pick<Clients, 'find' | 'ask'>
  readonly limits: { readonly commandTimeoutMs: number }
}

/** The largest number of holders that the text names. */
const MOST_NAMED = 3

/** The largest number of holders whose process is looked up. */
const MOST_ASKED = 20

/** @param at when the server reported the state, in milliseconds since 1970 */
export function whyNoPermits(sight: SemaphoreSight, known: KnownClients, at: number): WhyNoPermits {
  const { name, isSet, available, taken, waiting } = sight
  const holders = sight.holders
    .map(({ owner, ageMs, permits = permitsOf(owner) }) => {
      return { owner, process: known.clients.find(owner), permits, ageMs }
    })
    .sort((a, b) => b.ageMs - a.ageMs)
  const first = holders[0]
  return {
    name,
    outcome: outcomeOf(sight),
    holder: first?.owner ?? null,
    process: first?.process ?? null,
    ageMs: first?.ageMs ?? null,
    ttlMs: null,
    queuePosition: null,
    queueLength: waiting?.length ?? null,
    at,
    permits: taken === null || !(isSet || taken > 0) ? null : available + taken,
    available,
    taken,
    holders,
    waiting,
    text: `Semaphore "${name}": ${sentencesOf(sight, holders, known)}`,
  }
}

function outcomeOf({
  isSet,
  available,
  taken,
  waiting,
}: SemaphoreSight): WhyNotAcquired['outcome'] {
  if (!isSet && !taken) return 'unset'
  return available > 0 && waiting?.length === 0 ? 'free' : 'held'
}

/** The explanation in complete sentences. */
function sentencesOf(
  sight: SemaphoreSight,
  holders: readonly PermitOwner[],
  known: KnownClients,
): string {
  const { isSet, available, taken, waiting, setBy } = sight
  const waits = waiting === null ? '' : waitingWords(waiting)
  if (!isSet && !taken) {
    return `No permits are set: no client has set their number, or the number was deleted or lost. ${setBy}${waits}`
  }
  if (taken === null) {
    const are = available === 1 ? 'permit is' : 'permits are'
    return (
      `${available} ${are} available. The holders of the other permits are unknown, because permits without ` +
      `leases have no owner.${waits}`
    )
  }
  const are = taken === 1 ? 'is' : 'are'
  const who = taken === 0 ? '' : holderWords(taken, holders, known)
  return `${taken} of ${permitsIn(available + taken)} ${are} taken${who}.${waits}`
}

/** Names the holders, as in ": 1 by app-3 (host:4711) for 12 s, and 2 by others". */
function holderWords(taken: number, holders: readonly PermitOwner[], known: KnownClients): string {
  const named = holders.slice(0, MOST_NAMED)
  const others = taken - named.reduce((sum, { permits }) => sum + permits, 0)
  const all = named.map(({ owner, process, permits, ageMs }) => {
    return `${permits} by ${printedOwner(owner, process, known)} for ${printedMs(ageMs)}`
  })
  if (others > 0) {
    const why = holders.length > MOST_NAMED ? 'others' : 'others whose process is unknown'
    all.push(`${others} by ${why}`)
  }
  return all.length === 0 ? '' : `: ${all.join(', ')}`
}

function printedOwner(
  owner: string,
  process: ClientInfo | null,
  { clientId, clients }: KnownClients,
): string {
  if (clientOf(owner) === clientId) return 'this client'
  if (process === null) return printable(owner)
  const own = clients.find(clientId)
  const isHere = own !== null && own.host === process.host && own.pid === process.pid
  return printedClient(process, isHere ? 'another client of this process' : undefined)
}

/**
 * Names a client, as in "app-3 (host:4711)". A client without its own label is "host:4711".
 *
 * @param where the text instead of host and process id
 */
function printedClient(
  { label, host, pid }: ClientInfo,
  where = `${printable(host)}:${pid}`,
): string {
  return label === `${host}:${pid}` ? where : `${printable(label)} (${where})`
}

function waitingWords(waiting: readonly WaitingForPermits[]): string {
  const [first] = waiting
  if (first === undefined) return ' No client waits.'
  const clients = waiting.length === 1 ? '1 client waits' : `${waiting.length} clients wait`
  const wants = `${permitsIn(first.permits)} and has waited for ${printedMs(first.waitedMs)}`
  return ` ${clients}: the first wants ${wants}.`
}

/**
 * Asks the server about each unknown client once, for the holders that have held permits for the
 * longest. It never rejects.
 */
export async function askWhoTheyAre(
  holders: readonly { readonly owner: string; readonly ageMs: number }[],
  { clients, limits }: Asking,
): Promise<void> {
  const longest = [...holders].sort((a, b) => b.ageMs - a.ageMs).slice(0, MOST_ASKED)
  const unknown = longest.filter(({ owner }) => clients.find(owner) === null)
  const owners = new Map(unknown.map(({ owner }) => [clientOf(owner), owner]))
  await Promise.all(
    [...owners.values()].map((owner) => {
      return clients.ask(owner, limits.commandTimeoutMs).catch(() => null)
    }),
  )
}
