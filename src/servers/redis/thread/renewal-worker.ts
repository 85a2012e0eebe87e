import { parentPort, workerData } from 'node:worker_threads'
import { leftUntil } from '../../../kit/left-until.ts'
import { connectionFailure } from '../connection/failure-of.ts'
import { RedisServer } from '../redis-server.ts'
import { sourceOf } from './plain-source.ts'
import { type Moment, ProofTable } from './proof-table.ts'
import type { FromWorker, KeptLease, ToWorker, WorkerData } from './renewal-thread.ts'

/** A lease whose last proof is older than this part of it: its main thread is late. */
const LATE_AFTER = 0.45
/** It is looked for that each such part of the shortest one. */
const LOOK_EVERY = 0.1

if (parentPort === null)
  throw new Error(
    'holdfast/renewal-worker is the program of a thread: give its file as `workerUrl`',
  )
const { source, commandTimeoutMs, silenceLimitMs, heartbeat, hrtimeOffsetMs } =
  workerData as WorkerData
/** Whether the main thread has been told that there is no connection. */
let told = false
const node = new RedisServer(sourceOf(source), commandTimeoutMs, (error) => {
  if (told) return
  told = true
  const { message, kind } = connectionFailure(error)
  say({ kind: 'away', reason: message, refused: kind === 'refused' })
})
node.onUp(() => {
  told = false
})
node.connect() // When it is needed there is no time for that.
const table = new ProofTable()
const leases = new Map<number, KeptLease>()
const lastSeen = new Float64Array(heartbeat)
/** Those of which an answer is due: one that comes late, or never, holds up no other. */
const asked = new Set<KeptLease>()

parentPort?.on('message', (message: ToWorker) => {
  if (message.kind === 'block') table.adopt(message.memory)
  else if (message.kind === 'keep') {
    leases.set(message.slot, message.kept)
    lookWithin(message.kept.leaseMs * LOOK_EVERY)
  } else {
    leases.delete(message.slot)
    say({ kind: 'freed', slot: message.slot })
  }
})

let looks: NodeJS.Timeout | undefined
let nextLookAt = Infinity

/** Looks who is late in so many milliseconds, if it would not sooner; and from then on while anything is kept. */
function lookWithin(ms: number): void {
  if (performance.now() + ms >= nextLookAt) return
  nextLookAt = performance.now() + ms
  clearTimeout(looks)
  looks = setTimeout(() => {
    nextLookAt = Infinity
    renewWhatIsLate()
    if (leases.size > 0) lookWithin(LOOK_EVERY * shortestMs())
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
  // One that reaches its limit by what was proved needs no more.
  const late = [...leases].filter(([slot, kept]) => {
    if (asked.has(kept)) return false
    const { leaseMs, limitAt } = kept
    const provedAt = table.read(slot).monotonic
    return now - provedAt > leaseMs * LATE_AFTER && provedAt + leaseMs < limitAt
  })
  const sentAt = { monotonic: now, wall: Date.now() }
  const wanted = ({ leaseMs, limitAt }: KeptLease) => leftUntil(limitAt, now, leaseMs)
  const lengths = new Set(late.map(([, kept]) => wanted(kept)))
  for (const leaseMs of lengths) {
    const some = late.filter(([, kept]) => wanted(kept) === leaseMs)
    void renew(some, leaseMs, sentAt)
  }
}

async function renew(late: readonly [number, KeptLease][], leaseMs: number, sentAt: Moment) {
  for (const [, kept] of late) asked.add(kept)
  const group = late.map(([, { lease }]) => lease)
  const left = await node.renew(group, leaseMs, Math.min(commandTimeoutMs, leaseMs / 4))
  for (const [i, [slot, kept]] of late.entries()) {
    asked.delete(kept)
    // One that was forgotten since has no slot any more.
    if (Number(left[i]) >= leaseMs && leases.get(slot) === kept) table.write(slot, sentAt)
  }
}

say({ kind: 'up' })

function say(message: FromWorker): void {
  parentPort?.postMessage(message)
}

/** The main thread's `performance.now()`. */
function mainThreadNow(): number {
  return Number(process.hrtime.bigint()) / 1e6 - hrtimeOffsetMs
}
