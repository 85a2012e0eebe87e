import { parentPort, workerData } from 'node:worker_threads'
import { remainingUntil } from '../../../kit/remaining-until.ts'
import { provedMs } from '../../renewed-lease.ts'
import { connectionFailure } from '../connection/failure-of.ts'
import { RedisServer } from '../redis-server.ts'
import { sourceOf } from './plain-source.ts'
import { type ProofMoment, ProofTable } from './proof-table.ts'
import type { FromWorker, KeptLease, ToWorker, WorkerData } from './watchdog-thread.ts'

/** If the last proof of a lease is older than this share of the lease, the main thread is late. */
const LATE_AFTER = 0.45
/** The pause between two checks for late leases, as a share of the shortest lease. */
const LOOK_EVERY = 0.1

if (parentPort === null)
  throw new Error(
    'holdfast/renewal-worker is the program of a thread: give its file as `workerUrl`',
  )
const { source, commandTimeoutMs, silenceLimitMs, heartbeat, hrtimeOffsetMs } =
  workerData as WorkerData
/** True if the worker has told the main thread that it has no connection. */
let isReported = false
const node = new RedisServer(sourceOf(source), commandTimeoutMs, (error) => {
  if (isReported) return
  isReported = true
  const { message, kind } = connectionFailure(error)
  say({ kind: 'away', reason: message, refused: kind === 'refused' })
})
node.onUp(() => {
  isReported = false
})
node.connect() // When the main thread blocks, there may be no time left to connect.
const table = new ProofTable()
const leases = new Map<number, KeptLease>()
const lastSeen = new Float64Array(heartbeat)
/** The leases whose renewal is under way. A slow renewal does not delay other leases. */
const asked = new Set<KeptLease>()

parentPort?.on('message', (message: ToWorker) => {
  if (message.kind === 'block') table.adopt(message.memory)
  else if (message.kind === 'keep') {
    leases.set(message.slot, message.kept)
    checkWithin(message.kept.leaseMs * LOOK_EVERY)
  } else {
    leases.delete(message.slot)
    say({ kind: 'freed', slot: message.slot })
  }
})

let checks: NodeJS.Timeout | undefined
let nextCheckAt = Infinity

/**
 * Checks for late leases after `ms` milliseconds, unless a check comes sooner. Repeats the checks
 * while leases are kept.
 */
function checkWithin(ms: number): void {
  if (performance.now() + ms >= nextCheckAt) return
  nextCheckAt = performance.now() + ms
  clearTimeout(checks)
  checks = setTimeout(() => {
    nextCheckAt = Infinity
    renewWhatIsLate()
    if (leases.size > 0) checkWithin(LOOK_EVERY * shortestMs())
  }, ms)
}

function shortestMs(): number {
  let shortest = Infinity
  for (const { leaseMs } of leases.values()) shortest = Math.min(shortest, leaseMs)
  return shortest
}

function renewWhatIsLate(): void {
  const now = mainThreadNow()
  if (now - (lastSeen[0] ?? 0) > silenceLimitMs) return
  // A lease that already lasts until its limit needs no renewal.
  const late = [...leases].filter(([slot, kept]) => {
    if (asked.has(kept)) return false
    const { leaseMs, limitAt } = kept
    const provedAt = table.read(slot).monotonic
    return now - provedAt > leaseMs * LATE_AFTER && provedAt + leaseMs < limitAt
  })
  const sentAt = { monotonic: now, wall: Date.now() }
  const wanted = ({ leaseMs, limitAt }: KeptLease) => remainingUntil(limitAt, now, leaseMs)
  const lengths = new Set(late.map(([, kept]) => wanted(kept)))
  for (const leaseMs of lengths) {
    const some = late.filter(([, kept]) => wanted(kept) === leaseMs)
    void renew(some, leaseMs, sentAt)
  }
}

async function renew(late: readonly [number, KeptLease][], leaseMs: number, sentAt: ProofMoment) {
  for (const [, kept] of late) asked.add(kept)
  const group = late.map(([, { lease }]) => lease)
  const remaining = await node.renew(group, leaseMs, Math.min(commandTimeoutMs, leaseMs / 4))
  for (const [i, [slot, kept]] of late.entries()) {
    asked.delete(kept)
    // The slot of a lease that was forgotten meanwhile may belong to another lease now.
    if (provedMs(remaining[i]) >= leaseMs && leases.get(slot) === kept) table.write(slot, sentAt)
  }
}

say({ kind: 'up' })

function say(message: FromWorker): void {
  parentPort?.postMessage(message)
}

/** Returns the present time on the `performance.now()` of the main thread. */
function mainThreadNow(): number {
  return Number(process.hrtime.bigint()) / 1e6 - hrtimeOffsetMs
}
