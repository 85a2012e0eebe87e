import { setTimeout as pause } from 'node:timers/promises'
import type { Holdfast } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { leaves } from '../support/leaks.ts'
import { letVote } from '../support/masters.ts'
import { Cluster } from '../support/quorum-rig.ts'
import type { RedisServer } from '../support/redis-server.ts'
import { Witness } from '../support/witness.ts'

/** Acquires the lock again and again until `over()`. Failures that the faults cause do not matter. */
async function contend(client: Holdfast, witness: Witness, over: () => boolean): Promise<void> {
  const lock = client.getLock('it')
  while (!over()) {
    const lease = await lock.tryLock(500).catch(() => null)
    if (lease === null) {
      await pause(10)
      continue
    }
    witness.enter(lease)
    await pause(Math.random() * 15)
    witness.leave(lease)
    await lease.release().catch(() => {})
  }
}

const killed = async (master: RedisServer) => {
  await master.kill()
  await pause(150)
  await master.restart()
}
const stopped = async (master: RedisServer) => {
  master.pause()
  await pause(250)
  master.resume()
}
const restarted = (master: RedisServer) => master.restart()

describe.each([
  ['killed and started again', killed],
  ['stopped for a while', stopped],
  ['restarted empty', restarted],
] as const)('masters that are %s one after another', (_, hurt) => {
  test('the faults break neither the exclusion nor the order of the tokens', async () => {
    const cluster = await Cluster.start(5)
    const witness = new Witness()
    let over = false
    const options = { leaseMs: 600, longestLeaseMs: 600, outageMs: 2_000 }
    for (const master of cluster.masters) await letVote(master, options.longestLeaseMs)
    const clients = Array.from({ length: 4 }, () => cluster.client(options))
    const work = clients.map((client) => contend(client, witness, () => over))
    let seen = 0
    for (const master of [...cluster.masters, ...cluster.masters.slice(0, 3)]) {
      await hurt(master)
      seen = witness.grants
      // The masters that lost their data rest. After this, all clients must acquire the lock again.
      await eventually(() => witness.grants >= seen + 3, { message: 'three more grants' })
    }
    over = true
    await Promise.all(work)
    expect(witness.violations).toEqual([])
    expect(witness.grants).toBeGreaterThanOrEqual(24)
    await Promise.all(clients.map((client) => client.close()))
    leaves({ keys: true, why: 'what a master missed ends with its lease' })
  })
})
