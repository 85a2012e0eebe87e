import { EventEmitter } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { RedisServer } from '../../src/servers/redis/redis-server.ts'
import { ProofTable } from '../../src/servers/redis/thread/proof-table.ts'
import { eventually } from '../support/eventually.ts'
import { faultRig, SHA } from '../support/fault-rig.ts'

const rig = faultRig()
const LEASE_MS = 900

test('the watchdog thread counts an answer as proof only if the lease has an expiry', async () => {
  const port = Object.assign(new EventEmitter(), { postMessage: () => {} })
  const heartbeat = new SharedArrayBuffer(8)
  new Float64Array(heartbeat)[0] = performance.now()
  const workerData = {
    source: rig.proxy.url,
    commandTimeoutMs: 1_000,
    silenceLimitMs: 60_000,
    heartbeat,
    hrtimeOffsetMs: Number(process.hrtime.bigint()) / 1e6 - performance.now(),
  }
  // The program of the thread runs here, in the thread of the test.
  jest.doMock('node:worker_threads', () => ({ parentPort: port, workerData }))
  const disconnects: (() => void)[] = []
  const connect = jest.spyOn(RedisServer.prototype, 'connect').mockImplementation(function (
    this: RedisServer,
  ) {
    connect.mockRestore()
    disconnects.push(() => this.disconnect())
    this.connect()
  })
  const table = new ProofTable()
  const memory = table.grow()
  const endless = rig.proxy.answer(SHA.renew, '*1\r\n:-1\r\n')
  await import('../../src/servers/redis/thread/renewal-worker.ts')
  try {
    await rig.server.admin.hset('it', 'c:1', 1)
    await rig.server.admin.pexpire('it', 60_000)
    const kept = {
      lease: { rawName: 'it', ownerId: 'c:1' },
      leaseMs: LEASE_MS,
      limitAt: Infinity,
    }
    port.emit('message', { kind: 'block', memory })
    port.emit('message', { kind: 'keep', slot: 0, kept })
    await eventually(() => rig.proxy.count(SHA.renew) >= 2)
    await pause(50)
    expect(table.read(0).monotonic).toBe(0)
    endless.heal()
    await eventually(() => table.read(0).monotonic > 0)
  } finally {
    port.emit('message', { kind: 'forget', slot: 0 })
    await pause(LEASE_MS / 5)
    for (const disconnect of disconnects) disconnect()
    await rig.server.admin.del('it')
  }
})
