import { Holdfast, HoldfastError, type Lease } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { bulk } from '../support/fake-server.ts'
import { faultRig, granted, outcome, within } from '../support/fault-rig.ts'
import { atEnd } from '../support/lifetime.ts'
import { type ProxyRequest, startProxy } from '../support/proxy.ts'
import { Cluster } from '../support/quorum-rig.ts'
import * as generated from '../support/scripts.ts'

/**
 * A proxy gives answers that no script of Holdfast gives, although the script may have run. The call tries again, like
 * after a missing answer, and leaves nothing behind.
 */
const rig = faultRig()
const OUTAGE_MS = 1_500
/** The longest time of a call: the tolerated outage, and the extra time of a busy machine. */
const NO_HANG_MS = OUTAGE_MS + 10_000
/** The longest time of an answer. Each request in these tests receives an answer, even if it is invalid. */
const ANSWER_MS = 10_000

const list = (...parts: string[]) => `*${parts.length}\r\n${parts.join('')}`
const integer = (value: number | string) => `:${value}\r\n`
const NIL = '$-1\r\n'

/** Invalid answers, in the format of the protocol. No script gives them. */
const ODD: Record<string, string> = {
  nil: NIL,
  'a nil list': '*-1\r\n',
  'a number': integer(7),
  'a string': bulk('what'),
  OK: '+OK\r\n',
  'an empty list': list(),
  'a list of nil': list(NIL),
  'an unknown word': list(bulk('maybe'), bulk('17')),
  'a token that is no number': list(bulk('granted'), bulk('many')),
  'a token that is NaN': list(bulk('granted'), bulk('NaN')),
  'a token in hexadecimal': list(bulk('granted'), bulk('0x10')),
  'a token that is a list': list(bulk('granted'), list(bulk('1'), bulk('2'))),
  'a grant without a token': list(bulk('granted')),
  'a grant that says too much': list(bulk('granted'), bulk('17'), integer(3), bulk('more')),
  'a holder without a lease': list(bulk('held')),
  'a lease that is no number': list(bulk('held'), bulk('long')),
  'lateness without a time': list(bulk('late')),
  'lateness by no number': list(bulk('late'), bulk('soon')),
  'lateness, whatever it is asked': list(bulk('late'), bulk('1')),
  'a release that was not counted': list(bulk('freed')),
  'an error without a code': '-\r\n',
  'an error in small letters': '-upstream failure\r\n',
  'an error in a list': list('-ERR what\r\n', '-ERR what\r\n'),
  'what another script says': list(bulk('forgot'), bulk('1')),
}
const odd = Object.entries(ODD)

const scripts = { ...generated }
type Name = keyof typeof scripts

/** One client, one lock and one invalid answer. */
interface Case {
  readonly client: Holdfast
  /** A client without invalid answers. */
  readonly witness: Holdfast
  readonly name: string
  readonly answer: string
  /** From now on, the script has the invalid answer if it is about this lock. The returned function ends this. */
  lie(script?: Name): () => void
  /** Returns how often the script was requested for this lock. */
  asked(script?: Name): number
  /** Checks that the call rejects in time, usually names the answer, and did not send requests without pauses. */
  rejects(work: Promise<unknown>): Promise<HoldfastError>
}

/** Runs the check with each invalid answer, all at the same time. */
async function forEachOdd(
  script: Name,
  options: { outageMs?: number; leaseMs?: number },
  check: (one: Case) => Promise<void>,
): Promise<void> {
  const witness = rig.witness({ outageMs: 30_000 })
  let rejected = 0
  let shown = 0
  const all = odd.map(async ([what, answer], i) => {
    const name = `it:${i}`
    const isMeant = (of: Name) => (request: ProxyRequest) =>
      request.args[0] === scripts[of].sha1 && request.args.includes(name)
    const asked = (of = script) => rig.proxy.count(isMeant(of))
    const rejects = async (work: Promise<unknown>) => {
      const { value, error } = await outcome(within(NO_HANG_MS, work))
      expect(value).toBeUndefined()
      expect(error).toBeInstanceOf(HoldfastError)
      expect((error as HoldfastError).code).toMatch(/HOLDFAST_(UNAVAILABLE|REFUSED)/)
      rejected += 1
      if (/invalid answer|late/.test((error as HoldfastError).message)) shown += 1
      // In a busy process, the last request may receive no answer in the remaining time.
      else expect((error as HoldfastError).message).toMatch(/no answer within \d+ ms/)
      expect(asked()).toBeLessThan(40)
      return error as HoldfastError
    }
    const lie = (of = script) => {
      const { heal } = rig.proxy.answer(isMeant(of), answer)
      return heal
    }
    const client = rig.client({ outageMs: OUTAGE_MS, commandTimeoutMs: ANSWER_MS, ...options })
    // The client is connected, so each later reply is an answer to a request.
    await works(() => client.getLock(`${name}:up`).isLocked())
    await check({ client, witness, name, answer, lie, asked, rejects }).catch((error) => {
      throw new Error(`${what}: ${error?.stack ?? error}`)
    })
  })
  await Promise.all(all)
  expect(shown).toBeGreaterThanOrEqual(rejected * 0.75)
}

/** Repeats the work until it succeeds, because a busy process may need longer than the tolerated outage. */
async function works(work: () => Promise<unknown>): Promise<void> {
  await eventually(async () => {
    await work()
    return true
  })
}

/** Releases the lock. If the answer is late, the client continues the release in the background. */
async function released(lease: Lease): Promise<void> {
  const { value, error } = await outcome(lease.release())
  if (error === undefined) expect(value).toBe(true)
  else expect(error).toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
}

const LONG_OUTAGE = { outageMs: 8_000 }

describe('an invalid answer', () => {
  test('to an acquisition is an outage, and the client releases what was granted', async () => {
    await forEachOdd('acquire', {}, async ({ client, name, answer, lie, rejects }) => {
      const lock = client.getLock(name)
      const heal = lie()
      const error = await rejects(lock.lock())
      // The other answers count as errors of the server, or as errors of a proxy in between.
      if (answer.startsWith('*') && !answer.includes('late')) {
        expect(error).toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
        expect(error.message).toMatch(
          /no valid answer .*it gave the invalid answer .* to the script "lock\/acquire"|no answer within/,
        )
      }
      await rejects(lock.tryLock())
      heal()
      await eventually(async () => !(await rig.exists(name)))
      await works(async () => granted(await lock.tryLock()).release())
    })
  })

  test('to one request of an acquisition costs one try', async () => {
    await forEachOdd('acquire', LONG_OUTAGE, async ({ client, name, lie, asked }) => {
      const heal = lie()
      const lease = client.getLock(name).lock()
      await eventually(() => asked() > 0)
      heal()
      await (await within(NO_HANG_MS, lease)).release()
      expect(await rig.exists(name)).toBe(false)
    })
  })

  test('to a re-entry is an error, and the hold count stays the same', async () => {
    await forEachOdd('acquire', {}, async ({ client, name, lie, rejects }) => {
      const lock = client.getLock(name, { owner: client.owner() })
      const outer = await lock.lock()
      const heal = lie()
      await rejects(lock.lock())
      heal()
      await eventually(async () => (await rig.hash(name))[outer.owner] === '1')
      await released(outer)
      await eventually(async () => !(await rig.exists(name)), { timeoutMs: 6_000 })
    })
  })

  test('to a hand-off does not block the waiters', async () => {
    await forEachOdd('handOver', LONG_OUTAGE, async ({ client, name, lie }) => {
      const lock = client.getLock(name)
      const first = await eventually(() => lock.lock())
      const waiting = [lock.lock(), lock.lock(), lock.lock()]
      lie()
      expect(await within(NO_HANG_MS, first.release())).toBe(true)
      for (const one of waiting) {
        expect(await (await within(NO_HANG_MS, one)).release()).toBe(true)
      }
      expect(await rig.exists(name)).toBe(false)
    })
  })

  test('to a release is an error, and the client tries the release again', async () => {
    await forEachOdd('release', {}, async ({ client, witness, name, lie, rejects }) => {
      const lease = await client.getLock(name).lock({ leaseMs: 60_000 })
      const heal = lie()
      const other = witness.getLock(name).lock()
      await rejects(lease.release())
      heal()
      await (await within(NO_HANG_MS, other)).release()
    })
  })

  test('to a nested release is an error', async () => {
    await forEachOdd('release', {}, async ({ client, name, lie, rejects }) => {
      const lock = client.getLock(name, { owner: client.owner() })
      const outer = await lock.lock()
      const inner = await lock.lock()
      const heal = lie()
      await rejects(inner.release())
      heal()
      await released(outer)
      await eventually(async () => !(await rig.exists(name)), { timeoutMs: 6_000 })
    })
  })

  test('to a renewal does not lose a lease that has not expired', async () => {
    await forEachOdd('renew', { leaseMs: 6_000 }, async ({ client, name, lie, asked }) => {
      const lease = await eventually(() => client.getLock(name).lock())
      const late = new Promise((resolve) => client.once('late', resolve))
      const heal = lie()
      await late
      heal()
      await new Promise((resolve) => client.once('renewed', resolve))
      expect(lease.valid).toBe(true)
      expect(await lease.release()).toBe(true)
      expect(asked()).toBeLessThan(20)
    })
  })

  test('to a fair acquisition is an outage, and leaves no place in the queue', async () => {
    await forEachOdd('acquireFair', {}, async ({ client, name, lie, rejects }) => {
      const lock = client.getFairLock(name)
      const heal = lie()
      await rejects(lock.lock())
      await rejects(lock.tryLock())
      heal()
      await eventually(async () => !(await rig.exists(name)))
      await eventually(async () => (await rig.queue(name)).length === 0)
      await works(async () => granted(await lock.tryLock()).release())
    })
  })

  test('to a fair release is an error, and the client tries the release again', async () => {
    await forEachOdd('releaseFair', {}, async ({ client, witness, name, lie, rejects }) => {
      const lease = await client.getFairLock(name).lock({ leaseMs: 60_000 })
      const heal = lie()
      const other = witness.getFairLock(name).lock()
      await rig.queued(name, 1)
      await rejects(lease.release())
      heal()
      await (await within(NO_HANG_MS, other)).release()
    })
  })

  test('to a heartbeat does not cost the waiter its place in the queue', async () => {
    await forEachOdd('heartbeat', LONG_OUTAGE, async ({ client, witness, name, lie, asked }) => {
      const held = await witness.getFairLock(name).lock()
      lie()
      const order: string[] = []
      const waits = async (who: string, one: Holdfast) => {
        const lease = await one.getFairLock(name).lock()
        order.push(who)
        await lease.release()
      }
      const waiting = [waits('first', client)]
      await rig.queued(name, 1)
      waiting.push(waits('second', witness))
      await rig.queued(name, 2)
      await eventually(() => asked('heartbeat') > 1)
      expect(await held.release()).toBe(true)
      await within(NO_HANG_MS, Promise.all(waiting))
      expect(order).toEqual(['first', 'second'])
      expect(asked()).toBeLessThan(20)
    })
  })

  test('to an acquisition of several locks is an outage, and the client releases what was granted', async () => {
    await forEachOdd('acquireAll', {}, async ({ client, name, lie, rejects }) => {
      const both = client.getMultiLock(client.getLock(name), client.getLock(`${name}:b`))
      const heal = lie()
      await rejects(both.lock())
      heal()
      await eventually(async () => !(await rig.exists(name)) && !(await rig.exists(`${name}:b`)))
      await works(() => both.using(() => {}))
    })
  })

  test('to a batch of calls leaves no call pending', async () => {
    await forEachOdd('batch', {}, async ({ client, name, lie, asked }) => {
      const first = await eventually(() => client.getLock(`${name}:first`).lock())
      const heal = lie()
      // While an answer is missing, the client sends the other calls together.
      const names = [`${name}:1`, ...Array.from({ length: 19 }, (_, i) => `${name}:${i + 2}`), name]
      const work = names.map((one) => client.getLock(one).lock())
      // A repeated call may be alone in its batch, and then acquires its lock.
      for (const done of await within(NO_HANG_MS, Promise.allSettled(work))) {
        if (done.status === 'fulfilled') await done.value.release().catch(() => {})
      }
      expect(asked()).toBeGreaterThan(0)
      expect(asked()).toBeLessThan(40)
      heal()
      await eventually(async () => {
        return (await rig.server.admin.exists(...names)) === 0
      })
      await released(first)
    })
  })

  test('to a status call or `forceUnlock()` is an error', async () => {
    await forEachOdd('peek', {}, async ({ client, name, lie, rejects, asked }) => {
      const lock = client.getLock(name)
      const lease = await eventually(() => lock.lock())
      const heal = lie()
      await rejects(lock.isLocked())
      // `forceUnlock()` first checks which owner holds the lock.
      await rejects(lock.forceUnlock())
      heal()
      const healInspect = lie('inspect')
      await rejects(lock.inspect())
      expect(asked('inspect')).toBeLessThan(40)
      healInspect()
      const healForce = lie('forceRelease')
      await rejects(lock.forceUnlock())
      expect(asked('forceRelease')).toBeLessThan(40)
      healForce()
      // The script ran although its answer was invalid, and the lock is free.
      await outcome(lease.release())
      await eventually(async () => !(await rig.exists(name)), { timeoutMs: 6_000 })
    })
  })

  test('from one master of three counts as if that master were down', async () => {
    const cluster = await Cluster.start(3)
    const proxy = await startProxy(cluster.masters[0]?.port ?? 0)
    const urls = [proxy.url, ...cluster.masters.slice(1).map(({ url }) => url)]
    const asked = ['vote', 'handOver', 'release', 'agree', 'restore', 'renew', 'batch'] as const
    const work = odd.map(async ([what, answer], i) => {
      const name = `it:${i}`
      for (const script of asked) {
        const { sha1 } = scripts[script]
        proxy.answer(({ args }) => args[0] === sha1 && args.includes(name), answer)
      }
      const client = cluster.client({ commandTimeoutMs: ANSWER_MS }, urls)
      await works(() => client.getLock(`${name}:up`).using(() => {}))
      const lock = client.getLock(name)
      const held = await within(NO_HANG_MS, lock.lock())
      const waiting = [lock.lock(), lock.lock()]
      expect([what, await within(NO_HANG_MS, held.release())]).toEqual([what, true])
      for (const one of waiting) {
        expect([what, await (await within(NO_HANG_MS, one)).release()]).toEqual([what, true])
      }
    })
    await Promise.all(work)
    await proxy.heal()
    for (const [i] of odd.entries()) await cluster.free(`it:${i}`)
  })

  test('from a majority of masters is an outage, and the error contains the answer', async () => {
    const cluster = await Cluster.start(3)
    const proxies = await Promise.all(cluster.masters.map(({ port }) => startProxy(port)))
    const urls = proxies.map(({ url }) => url)
    const client = cluster.client({ outageMs: OUTAGE_MS, commandTimeoutMs: ANSWER_MS }, urls)
    await works(() => client.getLock('up').using(() => {}))
    const lies = proxies.slice(1).map((proxy) => proxy.answer(scripts.vote.sha1, NIL))
    await works(async () => {
      const { error } = await outcome(within(NO_HANG_MS, client.getLock('it').lock()))
      expect(error).toMatchObject({ code: 'HOLDFAST_UNAVAILABLE' })
      expect((error as Error).message).toMatch(
        /gave the invalid answer nil to the script "quorum\/vote"/,
      )
    })
    for (const one of lies) one.heal()
    await cluster.free('it')
    await works(async () => (await client.getLock('it').lock()).release())
  })

  test('from a master to the question since when it votes does not stop calls', async () => {
    const cluster = await Cluster.start(1, false)
    for (const [, answer] of odd) {
      const proxy = await startProxy(cluster.masters[0]?.port ?? 0)
      const lie = proxy.answer(scripts.enrol.sha1, answer)
      // The first call has a tenth of the lease to enrol the master. If this time were too short, the master would vote
      // already, and no later call would enrol it.
      const options = { leaseMs: 30_000, commandTimeoutMs: ANSWER_MS, outageMs: 20_000 }
      const client = cluster.client({ ...options, newDeployment: true }, [proxy.url])
      const lock = client.getLock('it')
      await works(async () => expect(await (await lock.lock()).release()).toBe(true))
      expect(proxy.count(scripts.enrol.sha1)).toBeGreaterThan(0)
      lie.heal()
      await works(async () => expect(await (await lock.lock()).release()).toBe(true))
      await cluster.masters[0]?.admin.del('holdfast_birth')
    }
  })

  test('to one call of a batch does not harm the other calls', async () => {
    const client = rig.client(LONG_OUTAGE)
    const first = await client.getLock('first').lock()
    const names = Array.from({ length: 16 }, (_, i) => `it:${i}`)
    const isMeant = (request: ProxyRequest) =>
      request.args[0] === scripts.batch.sha1 && request.args.includes('it:1')
    const parts = [bulk('17'), NIL, '-ERR what\r\n', '-what\r\n', bulk('18')]
    const once = rig.proxy.answer(isMeant, list(...parts, ...Array(12).fill(bulk('18'))))
    const work = names.map((name) => outcome(client.getLock(name).tryLock()))
    await eventually(() => rig.proxy.count(isMeant) > 0)
    once.heal()
    const done = await within(NO_HANG_MS, Promise.all(work))
    const leases = done.flatMap(({ value }) => (value ? [value] : []))
    expect(leases.length).toBeGreaterThanOrEqual(15)
    for (const lease of leases) await lease.release().catch(() => {})
    await first.release()
  })

  test('from a server about itself does not stop later calls', async () => {
    const clients = odd.flatMap(([, answer]) =>
      ['INFO', 'TIME'].map(async (command) => {
        const proxy = await startProxy(rig.server.port)
        const lie = proxy.answer((request) => request.command === command, answer)
        const client = new Holdfast({ redis: proxy.url, outageMs: OUTAGE_MS })
        atEnd(() => client.close(), { beforeCheck: true })
        const lock = client.getLock(`it:${proxy.port}`)
        const { value, error } = await outcome(within(NO_HANG_MS, lock.tryLock()))
        if (value) await value.release()
        else expect(error).toBeInstanceOf(HoldfastError)
        lie.heal()
        const again = () => lock.tryLock().catch(() => null)
        await (await eventually(again, { timeoutMs: 10_000 })).release()
      }),
    )
    await Promise.all(clients)
  })

  // ioredis itself fails if the second part of an answer is not a channel.
  const errors = odd.filter(([, answer]) => /^-[^\d]|^[+]|^[$]\d/.test(answer))
  test.each(errors)(
    'to a subscription (%s) does not stop the waiter from acquiring the lock',
    async (_, answer) => {
      const held = await rig.witness().getLock('it').lock()
      const lie = rig.proxy.answer((request) => request.command === 'SUBSCRIBE', answer)
      const waiting = rig.client(LONG_OUTAGE).getLock('it').lock()
      await eventually(() => rig.proxy.count(scripts.acquire.sha1) > 0)
      await held.release()
      await (await within(NO_HANG_MS, waiting)).release()
      lie.heal()
    },
  )
})

test('a waiter pauses between its checks even when each answer says that the lease ends at once', async () => {
  const held = await rig.witness().getLock('it').lock()
  const client = rig.client({ commandTimeoutMs: ANSWER_MS, outageMs: 30_000 })
  await works(() => client.getLock('it').isLocked())
  const lie = rig.proxy.answer(
    scripts.acquire.sha1,
    list(bulk('held'), integer(0), bulk(held.owner), bulk('')),
  )
  expect(await client.getLock('it').tryLock(2_000)).toBeNull()
  expect(rig.proxy.count(scripts.acquire.sha1)).toBeLessThan(150)
  lie.heal()
  await held.release()
})
