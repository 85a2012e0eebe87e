import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { Majority } from '../../src/servers/quorum/majority.ts'
import { lockKeys } from '../../src/servers/redis/calls/keys.ts'
import { eventually, eventuallyPasses } from '../support/eventually.ts'
import { granted, within } from '../support/fault-rig.ts'
import { leaves } from '../support/leaks.ts'
import { type FaultProxy, startProxy } from '../support/proxy.ts'
import { Cluster, LONG_CALLS } from '../support/quorum-rig.ts'
import type { RedisServer } from '../support/redis-server.ts'
import * as scripts from '../support/scripts.ts'

const isRising = (tokens: readonly number[]) =>
  tokens.every((token, i) => i === 0 || token > Number(tokens[i - 1]))

/** Starts masters that know the scripts, each behind a proxy. */
async function proxied(count: number): Promise<{ cluster: Cluster; proxies: FaultProxy[] }> {
  const cluster = await Cluster.start(count)
  for (const { admin } of cluster.masters) {
    for (const { source } of Object.values(scripts)) await admin.script('LOAD', source)
  }
  const proxies = await Promise.all(cluster.masters.map(({ port }) => startProxy(port)))
  return { cluster, proxies }
}

describe('tokens', () => {
  test('tokens rise above every counter of a majority, however far the counters differ', async () => {
    const cluster = await Cluster.start(5)
    const lock = cluster.client().getLock('it')
    const tokens = [await lock.using(({ token }) => token)]
    const base = tokens[0] as number
    const { counter } = lockKeys('it')
    for (const round of [1, 2, 3, 4]) {
      await cluster.free('it')
      for (const [i, { admin }] of cluster.masters.entries()) {
        // No counter is below the token of the last grant.
        const ahead = base + 1_000 * round + ((i * 37 + round * 11) % 5) * 100
        await admin.set(counter, ahead, 'PX', 60_000)
      }
      for (let i = 0; i < 3; i++) {
        tokens.push(await lock.using(({ token }) => token))
        tokens.push(
          await cluster
            .client()
            .getLock('it')
            .using(({ token }) => token),
        )
      }
    }
    expect(tokens).toHaveLength(25)
    expect(isRising(tokens)).toBe(true)
  })

  test('only votes are requested once the counters agree', async () => {
    const { cluster, proxies } = await proxied(3)
    const lock = cluster
      .client(
        // With these options, no vote is requested twice because an answer is late.
        { leaseMs: 50_000, commandTimeoutMs: 5_000 },
        proxies.map(({ url }) => url),
      )
      .getLock('it')
    const counters = () => cluster.counters('it')
    await eventually(async () => {
      await lock.using(() => {})
      await cluster.free('it')
      return new Set(await counters()).size === 1
    })
    const told = proxies.map((proxy) => proxy.count(scripts.agree.sha1))
    const tokens: number[] = []
    for (let i = 0; i < 5; i++) {
      tokens.push(await lock.using(({ token }) => token))
      await cluster.free('it')
    }
    expect(tokens).toEqual(tokens.map((_, i) => (tokens[0] as number) + i))
    expect(proxies.map((proxy) => proxy.count(scripts.agree.sha1))).toEqual(told)
  })

  test('no token is issued twice when the agreement gets no answer', async () => {
    const { cluster, proxies } = await proxied(3)
    const { counter } = lockKeys('it')
    for (const [i, { admin }] of cluster.masters.entries()) {
      await admin.set(counter, 1_000 + 10 * i, 'PX', 60_000)
    }
    for (const proxy of proxies) proxy.onNextRequest(scripts.agree.sha1, 'mute')
    const urls = proxies.map(({ url }) => url)
    const leases = [await cluster.client({}, urls).getLock('it').lock()]
    await (leases[0] as { release(): Promise<boolean> }).release()
    leases.push(await cluster.client().getLock('it').lock())
    await leases[1]?.release()
    expect(isRising([1_000, ...leases.map(({ token }) => token)])).toBe(true)
    await cluster.free('it')
  })

  test('tokens rise even when each acquisition reaches another majority', async () => {
    const { cluster, proxies } = await proxied(3)
    for (const [i, { admin }] of cluster.masters.entries()) {
      await admin.set(lockKeys('it').counter, i === 1 ? 5_000 : 1_000, 'PX', 60_000)
    }
    const tokens: number[] = []
    for (let round = 2; round < 11; round++) {
      const urls = proxies.map(({ url }) => url)
      const away = proxies[round % 3] as FaultProxy
      away.refuse()
      away.cut()
      const lock = cluster.client({}, urls).getLock('it')
      tokens.push(await lock.using(({ token }) => token))
      await away.heal()
      await cluster.free('it')
    }
    expect(isRising(tokens)).toBe(true)
  })
})

describe('split votes', () => {
  test('split votes are resolved, and leave nothing behind', async () => {
    const cluster = await Cluster.start(5)
    const locks = Array.from({ length: 5 }, () => cluster.client().getLock('it'))
    let inside = 0
    const tokens: number[] = []
    await within(
      20_000,
      Promise.all(
        locks.map(async (lock) => {
          for (let i = 0; i < 5; i++) {
            await lock.using(async ({ token }) => {
              inside += 1
              expect(inside).toBe(1)
              tokens.push(token)
              await pause(1)
              inside -= 1
            })
          }
        }),
      ),
    )
    expect(tokens).toHaveLength(25)
    expect(isRising(tokens)).toBe(true)
    await cluster.free('it')
  })

  test('split votes of other owners are overcome when their leases end', async () => {
    const cluster = await Cluster.start(5)
    for (const [i, { admin }] of cluster.masters.entries()) {
      if (i === 4) continue
      await admin.hset('it', `somebody:${i % 2}`, 1)
      await admin.pexpire('it', 400)
    }
    const lease = await within(5_000, cluster.client().getLock('it').lock())
    await lease.release()
    await cluster.free('it')
  })
})

describe('a minority', () => {
  test('a minority that hangs costs little latency', async () => {
    const cluster = await Cluster.start(5)
    const lock = cluster.client(LONG_CALLS).getLock('it')
    await lock.using(() => {})
    for (const master of cluster.masters.slice(0, 2)) master.pause()
    // If a call waited for a paused master, it would take longer than the limit of all rounds.
    const rounds = async () => {
      for (let i = 0; i < 20; i++) await lock.using(() => {})
    }
    await within(10_000, rounds())
    const held = await cluster.client().getLock('it').lock()
    expect(await lock.tryLock()).toBeNull()
    const waiting = lock.lock()
    await held.release()
    await (await within(3_000, waiting)).release()
    for (const master of cluster.masters) await master.revive()
    await cluster.free('it')
  })

  test('a master that was down during the acquisition gets the lock with a renewal', async () => {
    const cluster = await Cluster.start(3)
    const [away] = cluster.masters
    await away?.kill()
    const lease = await cluster.client({ leaseMs: 3_000 }).getLock('it').lock()
    await away?.restart()
    await cluster.heldEverywhere('it', lease.owner)
    await lease.release()
    await cluster.free('it')
  })

  test('a vote that arrives after the release is given back', async () => {
    const { cluster, proxies } = await proxied(3)
    const [late] = cluster.masters
    const urls = proxies.map(({ url }) => url)
    // The lease is so long that it does not end during the test.
    const lock = cluster.client({ leaseMs: 60_000 }, urls).getLock('it')
    await lock.using(() => {})
    await cluster.free('it')
    // The master knows the release script but not the vote script, so the vote is sent again with its source.
    await late?.admin.script('FLUSH')
    await late?.admin.script('LOAD', scripts.release.source)
    const trap = (proxies[0] as FaultProxy).onNextRequest(scripts.vote.sha1, 'holdReply')
    const lease = granted(await lock.tryLock())
    await trap.seen
    await lease.release()
    await eventually(() => (proxies[0] as FaultProxy).count(scripts.release.sha1) >= 2)
    trap.release()
    await eventually(() => (proxies[0] as FaultProxy).count('EVAL') >= 1)
    await cluster.free('it')
  })

  test('a vote for a client that did not win is given back at once', async () => {
    const cluster = await Cluster.start(3)
    for (const { admin } of cluster.masters.slice(1)) {
      await admin.hset('it', 'somebody:else', 1)
      await admin.pexpire('it', 5_000)
    }
    // The lease is so long that the vote does not end by itself during the test.
    const lock = cluster.client({ leaseMs: 60_000 }).getLock('it')
    expect(await lock.tryLock()).toBeNull()
    await eventually(async () => (await cluster.holders('it'))[0] === '')
    leaves({ keys: true, why: 'somebody else has it' })
  })
})

test('a new client does not wait for masters that are down', async () => {
  const cluster = await Cluster.start(5)
  await cluster.masters[0]?.admin.hset('it', 'somebody:else', 1)
  await cluster.masters[0]?.admin.pexpire('it', 10_000)
  await Promise.all(cluster.masters.slice(3).map((master) => master.kill()))
  const client = cluster.client(LONG_CALLS)
  expect(await within(10_000, client.getLock('it').tryLock())).toBeNull()
  leaves({ keys: true, why: 'somebody else has it' })
})

describe('no majority', () => {
  test('the error of `lock()` has the reason of each master', async () => {
    const cluster = await Cluster.start(5)
    const [gone, hangs, full] = cluster.masters
    const client = cluster.client({ outageMs: 1_500 })
    await client.getLock('it').using(() => {})
    await cluster.free('it')
    await gone?.kill()
    hangs?.pause()
    await full?.admin.config('SET', 'maxmemory', '1')
    // If a master answers the last request too late, the error has another reason for this master.
    await eventuallyPasses(async () => {
      const error = await client
        .getLock('it')
        .lock()
        .then(String, (failure: Error) => failure)
      expect(error).toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
      const { message } = error as Error
      expect(message).toContain('no majority of 5 masters')
      expect(message).toMatch(new RegExp(`${gone?.port}: [^;]*(ECONNREFUSED|closed)`))
      expect(message).toMatch(
        new RegExp(`${hangs?.port}: (no answer within|Socket timeout|the connection broke)`),
      )
      expect(message).toContain(`${full?.port}: OOM`)
    })
    await full?.admin.config('SET', 'maxmemory', '0')
  })

  test('a holder that is cut off learns of the loss before the masters expire its lease', async () => {
    const { cluster, proxies } = await proxied(3)
    const urls = proxies.map(({ url }) => url)
    const lease = await cluster.client({ leaseMs: 1_000 }, urls).getLock('it').lock()
    await cluster.heldEverywhere('it', lease.owner)
    const aborted = once(lease.signal, 'abort')
    for (const proxy of proxies.slice(0, 2)) proxy.blackHole({ onHeal: 'drop' })
    const cutOff = cluster.masters.slice(0, 2)
    const leftMs = await Promise.all(cutOff.map(({ admin }) => admin.pttl('it')))
    expect(lease.remaining()).toBeLessThan(Math.min(...leftMs))
    await within(3_000, aborted)
    expect(await lease.release()).toBe(false)
    const next = await within(3_000, cluster.client().getLock('it').lock())
    expect(next.token).toBeGreaterThan(lease.token)
    await next.release()
    for (const proxy of proxies) await proxy.heal()
    await cluster.free('it')
  })
})

test('a lease that only one of three masters has is lost with the next renewal', async () => {
  const cluster = await Cluster.start(3)
  const lease = await cluster.client({ leaseMs: 6_000 }).getLock('it').lock()
  await cluster.heldEverywhere('it', lease.owner)
  for (const { admin } of cluster.masters.slice(1)) await admin.del('it')
  await eventually(() => lease.signal.aborted, { timeoutMs: 10_000 })
  expect(lease.signal.reason).toMatchObject({ reason: 'gone' })
  await cluster.free('it')
})

test('features that need one server are refused', async () => {
  const cluster = await Cluster.start(1)
  expect(() => cluster.client({ watchdogThread: true })).toThrow(/watchdogThread/)
  expect(() => cluster.client().getFairLock('it')).toThrow(/needs one server/)
  await expect(cluster.client().getLock('it').lock(60_001)).rejects.toThrow(/longestLeaseMs/)
})

test('a vote that is requested again is given back before the client is closed', async () => {
  const { cluster, proxies } = await proxied(3)
  const urls = proxies.map(({ url }) => url)
  const client = cluster.client({ commandTimeoutMs: 5_000, leaseMs: 60_000 }, urls)
  await client.getLock('warm').using(() => {})
  await cluster.free('warm')
  // This master does not know the vote script, so the vote is sent again with its source, after the release.
  const { admin } = cluster.masters[2] as RedisServer
  await admin.script('FLUSH')
  await admin.script('LOAD', scripts.release.source)
  const trap = (proxies[2] as FaultProxy).onNextRequest(scripts.vote.sha1, 'holdReply')
  const lease = await client.getLock('it').lock()
  expect(await lease.release()).toBe(true)
  const closing = client.close()
  trap.release()
  await closing
  expect(await cluster.holders('it')).toEqual(['', '', ''])
})

test.each([
  [[7, 7, 7, 6, 6], 7],
  [[9, 7, 7, 7, 6], 7],
  [[7, 7, 6, 6], 7],
  [[7, 6, 6], 7],
  [[0, 0, 0], null],
])('the tokens %j give %j as the last token that a majority may know', (tokens, expected) => {
  const facts = tokens.map((token) => ({
    holder: null,
    holdCount: 0,
    ttlMs: null,
    token: token || null,
    ageMs: null,
    waiters: 0,
    queue: [],
    queueLength: 0,
  }))
  expect(new Majority(5).factsOf(facts).token).toBe(expected)
})

test('one client acquires the lock when several clients try once at the same moment', async () => {
  const cluster = await Cluster.start(3)
  const locks = [1, 2, 3].map(() => cluster.client({ commandTimeoutMs: 2_000 }).getLock('it'))
  for (const lock of locks) await granted(await lock.tryLock(5_000)).release()
  for (let round = 0; round < 40; round++) {
    await cluster.free('it')
    const leases = (await Promise.all(locks.map((lock) => lock.tryLock()))).filter((one) => one)
    expect([round, leases.length]).toEqual([round, 1])
    await leases[0]?.release()
  }
})
