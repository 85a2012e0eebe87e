import { resolve } from 'node:path'
import { Holdfast } from '../../src/index.ts'
import { startCluster } from '../support/redis-cluster.ts'

const workerUrl = resolve(__dirname, '../../dist/esm/src/servers/redis/thread/renewal-worker.js')

test('a master of a cluster that hangs while the main thread is blocked costs no lease on another master', async () => {
  const cluster = await startCluster({ config: { 'cluster-node-timeout': 60_000 } })
  const client = new Holdfast({
    redis: { cluster: cluster.startNodes },
    watchdogThread: { workerUrl },
  })
  try {
    const [hung] = cluster.masters
    const names = Array.from({ length: 100 }, (_, n) => `it ${n}`)
    const masters = await Promise.all(names.map((name) => cluster.masterOf(name)))
    const there = (isHung: boolean) => names.find((_, n) => (masters[n] === hung) === isHung) ?? ''
    await client.getLock(there(true)).lock({ leaseMs: 6_000, renew: true })
    const { signal } = await client.getLock(there(false)).lock({ leaseMs: 1_400, renew: true })
    // After this time, the thread is connected to both nodes.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_000)
    expect(signal.aborted).toBe(false)
    hung?.pause()
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5_000)
    expect(signal.aborted).toBe(false)
    hung?.resume()
  } finally {
    await client.close()
  }
})
