import { parentPort, workerData } from 'node:worker_threads'
import { connectionFailure } from '../connection/failure-of.ts'
import { RedisServer } from '../redis-server.ts'
import { sourceOf } from './plain-source.ts'
import { ProofTable } from './proof-table.ts'
import type { FromWorker, ToWorker, WorkerData } from './renewal-thread.ts'

/** A lease whose last proof is older than this part of it: its main thread is late. */
const LATE_AFTER = 0.45

if (parentPort === null)
  throw new Error(
    'holdfast/renewal-worker is the program of a thread: give its file as `workerUrl`',
  )
const { source, leaseMs, commandTimeoutMs, silenceLimitMs, heartbeat, hrtimeOffsetMs } =
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
const leases = new Map<number, { key: string; wireOwner: string }>()
const lastSeen = new Float64Array(heartbeat)
let renewing: Promise<void> = Promise.resolve()

parentPort?.on('message', (message: ToWorker) => {
  if (message.kind === 'block') table.adopt(message.memory)
  else if (message.kind === 'keep') leases.set(message.slot, message.lease)
  else {
    leases.delete(message.slot)
    void renewing.then(() => say({ kind: 'freed', slot: message.slot }))
  }
})

setInterval(() => {
  renewing = renewing.then(renewWhatIsLate)
}, leaseMs / 10)

async function renewWhatIsLate(): Promise<void> {
  const now = mainThreadNow()
  if (now - (lastSeen[0] ?? 0) > silenceLimitMs) return
  const late = [...leases].filter(
    ([slot]) => now - table.read(slot).monotonic > leaseMs * LATE_AFTER,
  )
  if (late.length === 0) return
  const sentAt = { monotonic: now, wall: Date.now() }
  const group = late.map(([, lease]) => lease)
  const left = await node.renew(group, leaseMs, Math.min(commandTimeoutMs, leaseMs / 4))
  for (const [i, [slot, lease]] of late.entries()) {
    if (Number(left[i]) >= leaseMs && leases.get(slot) === lease) table.write(slot, sentAt)
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
