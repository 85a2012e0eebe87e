import { printable, printedMs } from '../../kit/printable.ts'
import type { Clients } from '../../local/clients.ts'
import type { WaitingForPermits } from '../../servers/facts.ts'
import { clientOf } from '../../servers/owner-id.ts'
import type { KnownTaker } from '../../servers/permit-pool.ts'
import type { ClientInfo, WhyNotAcquired } from '../../why-not-acquired.ts'
import { permitsIn } from './semaphore-words.ts'

/**
 * Explains why permits are not available. Contains the holders and the waiters, or says that no client has set the
 * number of permits.
 */
export interface WhyNoPermits extends WhyNotAcquired {
  /** The total number of permits. Null for permits without leases, and if no number is set and no permit is taken. */
  readonly permits: number | null
  /** How many permits are available; below 0 if more permits are taken than exist. */
  readonly available: number
  /** How many permits are taken; null for a semaphore without leases, because the server does not count them. */
  readonly taken: number | null
  /** The known holders. The first holder has held its permits for the longest time. */
  readonly holders: readonly PermitOwner[]
  /** The clients that wait; the first is served next. Null if the waiting clients are unknown. */
  readonly waiting: readonly WaitingForPermits[] | null
}

/** One acquisition that holds permits. */
export interface PermitOwner {
  /** The owner id in Redis: `<clientId>:<owner>:<permits>`. */
  readonly owner: string
  /** The client of the holder; null if the client is unknown. */
  readonly process: ClientInfo | null
  /** How many permits the acquisition holds. */
  readonly permits: number
  /** How long the acquisition has held permits, in milliseconds. */
  readonly ageMs: number
}

/** The last known state of a semaphore. `taken` and `waiting` are null if unknown. */
interface SemaphoreSight {
  readonly name: string
  /** A sentence that names the calls which set the number of permits. */
  readonly setBy: string
  readonly isSet: boolean
  readonly available: number
  readonly taken: number | null
  readonly holders: readonly KnownTaker[]
  readonly waiting: readonly WaitingForPermits[] | null
}

/** Finds the process of a client, and sends no request. `clientId` is the id of this client. */
interface ClientFinder {
  readonly clientId: string
  readonly clients: { find(owner: string): ClientInfo | null }
}

/** Asks the server for the process of a client. */
interface ClientLookup {
  readonly clients: Pick<Clients, 'find' | 'fetchInfo'>
  readonly limits: { readonly commandTimeoutMs: number }
}

/** The text names at most this many holders. */
const MOST_NAMED = 3

/** The client looks up the processes of at most this many holders. */
const MOST_ASKED = 20

/**
 * Makes the explanation from the last known state.
 *
 * @param at the time of the explanation, in milliseconds since 1970
 */
export function whyNoPermits(sight: SemaphoreSight, known: ClientFinder, at: number): WhyNoPermits {
  const { name, isSet, available, taken, waiting } = sight
  const holders = sight.holders
    .map(({ owner, ageMs, permits }) => {
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

function sentencesOf(
  sight: SemaphoreSight,
  holders: readonly PermitOwner[],
  known: ClientFinder,
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

/** Returns the words for the holders, such as ": 1 by app-3 (host:4711) for 12 s, 2 by others". */
function holderWords(taken: number, holders: readonly PermitOwner[], known: ClientFinder): string {
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
  { clientId, clients }: ClientFinder,
): string {
  if (clientOf(owner) === clientId) return 'this client'
  if (process === null) return printable(owner)
  const own = clients.find(clientId)
  const isHere = own !== null && own.host === process.host && own.pid === process.pid
  return printedClient(process, isHere ? 'another client of this process' : undefined)
}

/**
 * Returns the words for a client, such as "app-3 (host:4711)". A client without its own label is "host:4711".
 *
 * @param where replaces the host and process id
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
 * Looks up the unknown clients of the holders that have held permits for the longest time, with one request for each
 * client. Never rejects.
 */
export async function fetchClientInfo(
  holders: readonly { readonly owner: string; readonly ageMs: number }[],
  { clients, limits }: ClientLookup,
): Promise<void> {
  const longest = [...holders].sort((a, b) => b.ageMs - a.ageMs).slice(0, MOST_ASKED)
  const unknown = longest.filter(({ owner }) => clients.find(owner) === null)
  const owners = new Map(unknown.map(({ owner }) => [clientOf(owner), owner]))
  await Promise.all(
    [...owners.values()].map((owner) => {
      return clients.fetchInfo(owner, limits.commandTimeoutMs).catch(() => null)
    }),
  )
}
