import { setTimeout as pause } from 'node:timers/promises'
import { Holdfast, HoldfastError, type Lease, type UpgradableLease } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { faultRig, within } from '../support/fault-rig.ts'
import { lastingKeys } from '../support/lasting-keys.ts'
import { atEnd } from '../support/lifetime.ts'
import { startProxy } from '../support/proxy.ts'
import {
  causeFaults,
  faultProfiles,
  pick,
  type Random,
  randomFrom,
  SEED,
  tryAnyhow,
} from '../support/random-faults.ts'
import * as scripts from '../support/scripts.ts'

const rig = faultRig()

const SCRIPTS = [
  scripts.acquireRead,
  scripts.acquireWrite,
  scripts.releaseReadWrite,
  scripts.renewReadWrite,
].map(({ sha1 }) => sha1)

type Side = 'read' | 'write'

/**
 * Observes one read-write lock from outside. Records a violation if a writer overlaps with another valid holder. The
 * tokens of writers must rise, and no reader may have a token below the last writer's token.
 */
class ReadWriteWitness {
  readonly violations: string[] = []
  readonly grants = { read: 0, write: 0 }
  #lastToken = 0
  readonly #inside = new Map<Lease, Side>()

  enter(lease: Lease, side: Side): void {
    this.grants[side] += 1
    if (!lease.valid) return
    for (const [other, otherSide] of this.#inside) {
      if (!other.valid) continue
      if (side === 'write' || otherSide === 'write') {
        this.violations.push(`${side} ${lease.token} was let in beside ${otherSide} ${other.token}`)
      }
    }
    const isBehind =
      side === 'write' ? lease.token <= this.#lastToken : lease.token < this.#lastToken
    if (isBehind) this.violations.push(`${side} token ${lease.token} came after ${this.#lastToken}`)
    if (side === 'write') this.#lastToken = Math.max(this.#lastToken, lease.token)
    this.#inside.set(lease, side)
  }

  leave(lease: Lease): void {
    this.#inside.delete(lease)
  }
}

describe.each(faultProfiles)('in a storm of $name', (profile) => {
  test(`no owner reads or writes beside a writer, and nothing is left (seed ${SEED})`, async () => {
    const names = ['storm a', 'storm b']
    const witnesses = new Map(names.map((name) => [name, new ReadWriteWitness()]))
    const { leaseMs, commandTimeoutMs, outageMs } = profile
    const fleet = await Promise.all(
      [1, 2, 3].map(async (n) => {
        const proxy = await startProxy(rig.server.port)
        const redis = { host: proxy.host, port: proxy.port }
        const client = new Holdfast({ redis, leaseMs, commandTimeoutMs, outageMs })
        atEnd(() => client.close(), { beforeCheck: true })
        return { proxy, client, random: randomFrom(SEED + n) }
      }),
    )
    let isOver = false
    const faults = fleet.map(({ proxy, random }) =>
      causeFaults(proxy, random, profile, () => isOver, SCRIPTS),
    )
    const unlessOut = (error: unknown) => {
      if (!(error instanceof HoldfastError && error.code === 'HOLDFAST_UNAVAILABLE')) throw error
    }

    /** Reads, upgrades, writes and continues to read. A failed step ends the sequence. */
    const upgrades = async (client: Holdfast, name: string, random: Random) => {
      const seen = witnesses.get(name) as ReadWriteWitness
      const side = client.getReadWriteLock(name).upgradableLock()
      const lease = (await tryAnyhow(side, random)) as UpgradableLease | null
      if (lease === null) return
      seen.enter(lease, 'read')
      await pause(random() * 3)
      const trying = random() < 0.5 ? lease.upgrade({ waitMs: 400 }) : lease.tryUpgrade()
      const writing = await trying.catch(() => null)
      if (writing !== null) {
        seen.leave(lease)
        seen.enter(writing, 'write')
        if (lease.valid && lease.token !== writing.token) {
          seen.violations.push(
            `the upgradable lease has token ${lease.token}, ${writing.token} was written`,
          )
        }
        await pause(random() * 3)
        seen.leave(writing)
        await writing.release().catch(unlessOut)
        seen.enter(lease, 'read')
        await pause(random() * 3)
      }
      seen.leave(lease)
      await lease.release().catch(unlessOut)
    }

    const work = async (client: Holdfast, random: Random) => {
      while (!isOver) {
        const name = pick(random, names)
        if (random() < 0.25) {
          await upgrades(client, name, random)
          continue
        }
        const seen = witnesses.get(name) as ReadWriteWitness
        const owner = random() < 0.3 ? { owner: client.owner() } : {}
        const side: Side = random() < 0.6 ? 'read' : 'write'
        const lock = client.getReadWriteLock(name, owner)
        const ofSide = side === 'read' ? lock.readLock() : lock.writeLock()
        const lease = await tryAnyhow(ofSide, random)
        if (lease === null) continue
        seen.enter(lease, side)
        await pause(random() * 4)
        if ('owner' in owner && lease.valid) {
          // The owner re-enters, or a writer also reads and then continues to read.
          const again = await tryAnyhow(random() < 0.5 ? ofSide : lock.readLock(), random).catch(
            () => null,
          )
          if (random() < 0.5) await again?.release().catch(() => undefined)
          else {
            seen.leave(lease)
            await lease.release().catch(unlessOut)
            await pause(random() * 4)
            await again?.release().catch(() => undefined)
          }
        }
        seen.leave(lease)
        await lease.release().catch(unlessOut)
      }
    }
    const workers = fleet.flatMap(({ client, random }) =>
      [1, 2, 3, 4].map(() => work(client, randomFrom(Math.floor(random() * 2 ** 32)))),
    )
    const granted = (side: Side) =>
      [...witnesses.values()].reduce((sum, { grants }) => sum + grants[side], 0)
    await pause(5_000)
    // Few grants would show little. On a loaded machine, the storm lasts longer.
    await eventually(() => granted('read') > 2 && granted('write') > 2, {
      timeoutMs: 60_000,
      message: 'three grants to readers, and three grants to writers',
    })
    isOver = true
    await Promise.all(faults)
    // If a lock were left behind, the workers would wait until its lease ends.
    await within(6_000, Promise.all(workers))

    for (const [name, { violations }] of witnesses) {
      expect({ name, violations }).toEqual({ name, violations: [] })
    }
    // While the clients live, they release all locks that they may have acquired. So no lease has to end first.
    const left = async () => {
      const keys = await lastingKeys(rig.server.admin)
      return keys.filter((key) => !key.startsWith('redisson_lock_token:'))
    }
    await eventually(async () => (await left()).length === 0, {
      timeoutMs: 10_000,
      message: 'the end of all holds, and of all who wait',
    })
    await eventually(async () => (await rig.server.admin.pubsub('CHANNELS')).length === 0, {
      message: 'the end of all subscriptions',
    })
  })
})
