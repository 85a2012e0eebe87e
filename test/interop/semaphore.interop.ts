import { setTimeout as pause } from 'node:timers/promises'
import {
  InvalidArgumentError,
  LeaseLostError,
  type PermitExpirableSemaphore,
  type Semaphore,
} from '../../src/index.ts'
import { startChild } from '../support/children.ts'
import { eventually } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import type { ClientOptions } from '../support/worlds.ts'
import { JavaError, startJava } from './support/java.ts'
import { JavaPermitExpirableSemaphore, JavaSemaphore } from './support/java-semaphores.ts'
import { isQuiet, staysPending } from './support/pending.ts'
import { useStage } from './support/stage.ts'

const stage = useStage()

/** Much shorter than the lease of 30 s, for which a waiter would wait without a message. */
const SOON_MS = 5_000

/** A waiter in Node checks again after this time, with or without a message, in milliseconds. */
const ASK_AGAIN_MS = 1_000

const since = (start: number) => performance.now() - start

// A semaphore stays until it is deleted. No other key may be left when its clients are closed.
beforeEach(() => {
  const { name } = stage
  atEnd(
    async () => {
      const { admin } = stage.server
      await admin.del(name, ...(await admin.keys(`holdfast_request:{${name}}:*`)))
    },
    { beforeCheck: true },
  )
})

/** The length of the JVM's log before the test. */
let logged = 0
beforeEach(() => {
  logged = stage.java.log.length
})
// Redisson logs a message that it cannot read, and continues.
afterEach(() => {
  expect(stage.java.log.slice(logged)).not.toMatch(/Exception|ERROR/)
})

const javaPlain = (thread = '', name = stage.name) =>
  new JavaSemaphore(stage.javaClient, name, stage.threadName(thread))
const javaLeased = (thread = '', client = stage.javaClient) =>
  new JavaPermitExpirableSemaphore(client, stage.name, stage.threadName(thread))
const nodePlain = (options?: ClientOptions): Semaphore =>
  stage.nodeClient(options).getSemaphore(stage.name)
const nodeLeased = (options?: ClientOptions): PermitExpirableSemaphore =>
  stage.nodeClient(options).getPermitExpirableSemaphore(stage.name)

/** Resolves when this many clients of either language listen for permits. */
async function listeners(count: number, tagged = `{${stage.name}}`): Promise<void> {
  const channel = `redisson_sc:${tagged}`
  await eventually(
    async () => {
      const reply = (await stage.server.admin.pubsub('NUMSUB', channel)) as unknown[]
      return Number(reply[1]) === count
    },
    { message: `${count} to listen on ${channel}` },
  )
}

/** Resolves when the threads of one Java client are the only waiters, and all of them sleep. */
async function javaSleeps(): Promise<void> {
  await listeners(1)
  await isQuiet(() => stage.calls('evalsha'))
}

/** Resolves when the only waiter, which is in Node, listens and has just sent another request. */
async function nodeHasAsked(): Promise<void> {
  await listeners(1)
  const before = await stage.calls('evalsha')
  await eventually(async () => (await stage.calls('evalsha')) > before)
}

/**
 * Returns the shortest time of a few rounds. On a busy machine one round may be late, but without messages all would
 * be.
 */
async function quickest(round: () => Promise<number>): Promise<number> {
  const tookMs: number[] = []
  while (tookMs.length < 5 && !tookMs.some((ms) => ms < ASK_AGAIN_MS / 3)) {
    tookMs.push(await round())
    await listeners(0)
  }
  report('here, woken after', ...tookMs)
  return Math.min(...tookMs)
}

/** Checks that the promise settles soon after the work. */
async function follows(waiting: Promise<unknown>, work: () => Promise<unknown>): Promise<void> {
  const start = performance.now()
  await work()
  await waiting
  expect(since(start)).toBeLessThan(SOON_MS)
}

describe('RSemaphore and getSemaphore: the number of permits', () => {
  test('is set once by the first call, and changed by both languages', async () => {
    const [java, node] = [javaPlain(), nodePlain()]
    const agree = async (permits: number) => {
      expect(await java.availablePermits()).toBe(permits)
      expect(await node.availablePermits()).toBe(permits)
    }
    await agree(0)
    expect(await java.trySetPermits(5)).toBe(true)
    expect(await node.trySetPermits(7)).toBe(false)
    await agree(5)
    expect(await node.addPermits(2)).toBe(7)
    await java.addPermits(-3)
    await agree(4)
    expect(await java.drainPermits()).toBe(4)
    await node.release(3)
    await agree(3)
    expect(await node.drainPermits()).toBe(3)
    await agree(0)
    expect(await node.addPermits(-2)).toBe(-2)
    await agree(-2)
    expect(await node.drainPermits()).toBe(0)
    await java.addPermits(-1)
    await agree(-3)
    await java.release(4)
    await agree(1)
    await stage.server.admin.del(stage.name)
    expect(await node.trySetPermits(2, { ttlMs: 60_000 })).toBe(true)
    expect(await java.trySetPermits(3)).toBe(false)
    await agree(2)
    await java.acquire(2)
    await node.release(2)
    expect(await stage.pttl()).toBeGreaterThan(30_000)
  })

  test('counts for both languages, and either language may release permits', async () => {
    const [java, node] = [javaPlain(), nodePlain()]
    await node.trySetPermits(3)
    await java.acquire(2)
    expect(await node.tryAcquire({ permits: 2 })).toBe(false)
    expect(await node.tryAcquire()).toBe(true)
    expect(await java.tryAcquire()).toBe(false)
    expect(await java.tryAcquire(1, 300)).toBe(false)
    expect(await node.tryAcquire({ waitMs: 1_000 })).toBe(false)
    // A permit belongs to no owner.
    await node.release(2)
    expect(await java.tryAcquire(2)).toBe(true)
    await java.release(3)
    expect(await node.availablePermits()).toBe(3)
    await listeners(0)
    expect((await node.inspect()).waiting).toEqual([])
  })
})

describe('RSemaphore: a waiter in Java', () => {
  test.each([
    ['release', (node: Semaphore) => node.release()],
    ['releaseIfExists', (node: Semaphore) => node.releaseIfExists()],
    ['addPermits', (node: Semaphore) => node.addPermits(1)],
  ] as const)('is woken by %s of getSemaphore', async (_, work) => {
    const [java, node] = [javaPlain(), nodePlain()]
    await node.trySetPermits(1)
    await node.acquire()
    const waiting = java.acquire()
    await javaSleeps()
    await follows(waiting, () => work(node))
    expect(await node.availablePermits()).toBe(0)
    await java.release()
  })

  test('is woken when Node creates the semaphore that it waits for', async () => {
    const waiting = javaPlain().acquire(2)
    await javaSleeps()
    await follows(waiting, () => nodePlain().trySetPermits(3))
    expect(await javaPlain('another').availablePermits()).toBe(1)
  })

  test('for many permits is woken until there are enough, and many waiters are woken by many permits', async () => {
    const node = nodePlain()
    await node.trySetPermits(0)
    const waiting = [
      javaPlain('a').acquire(3),
      javaPlain('b').acquire(1),
      javaPlain('c').acquire(1),
    ]
    await javaSleeps()
    await follows(Promise.all(waiting), async () => {
      for (const _ of [1, 2, 3, 4]) await node.release()
      await node.release(3)
    })
    expect(await node.availablePermits()).toBe(2)
  })

  test('leaves Node all permits after it gives up in time', async () => {
    const node = nodePlain()
    await node.trySetPermits(0)
    expect(await javaPlain().tryAcquire(1, 500)).toBe(false)
    await listeners(0)
    await node.release()
    expect(await node.tryAcquire()).toBe(true)
  })
})

describe('getSemaphore: a waiter in Node', () => {
  test.each([
    ['release', (java: JavaSemaphore) => java.release()],
    ['addPermits', (java: JavaSemaphore) => java.addPermits(1)],
  ] as const)('is woken by %s of RSemaphore, before its own next request', async (_, work) => {
    const java = javaPlain()
    await java.trySetPermits(0)
    const tookMs = await quickest(async () => {
      const waiting = nodePlain().acquire()
      await nodeHasAsked()
      const start = performance.now()
      await work(java)
      await waiting
      return since(start)
    })
    expect(tookMs).toBeLessThan(ASK_AGAIN_MS / 3)
    expect(await java.availablePermits()).toBe(0)
  })

  test('is woken when Java creates the semaphore that it waits for', async () => {
    const waiting = nodePlain().acquire(2)
    await listeners(1)
    await follows(waiting, () => javaPlain().trySetPermits(3))
    expect(await javaPlain().availablePermits()).toBe(1)
  })

  test('for many permits is not overtaken in Node, but may be overtaken by Java', async () => {
    const [java, node] = [javaPlain(), nodePlain()]
    await java.trySetPermits(2)
    const waiting = node.acquire(3)
    await listeners(1)
    expect(await nodePlain().tryAcquire()).toBe(false)
    expect(await java.tryAcquire()).toBe(true)
    await java.release()
    await staysPending(waiting)
    await follows(waiting, () => java.release())
  })

  test('and a waiter in Java get one permit each when two are released', async () => {
    const node = nodePlain()
    await node.trySetPermits(0)
    const waiting = [javaPlain().acquire(), nodePlain().acquire()]
    await listeners(2)
    await follows(Promise.all(waiting), () => node.release(2))
    expect(await node.availablePermits()).toBe(0)
  })
})

describe('RPermitExpirableSemaphore and getPermitExpirableSemaphore: the number of permits', () => {
  /** Checks that both languages report these facts. */
  async function agree(
    java: JavaPermitExpirableSemaphore,
    node: PermitExpirableSemaphore,
    facts: { permits: number; available: number; taken: number },
  ) {
    expect({
      permits: await java.getPermits(),
      available: await java.availablePermits(),
      taken: await java.acquiredPermits(),
    }).toEqual(facts)
    expect(await node.inspect()).toMatchObject(facts)
    expect(await node.availablePermits()).toBe(facts.available)
  }

  test('is set by both languages, even while permits are acquired', async () => {
    const [java, node] = [javaLeased(), nodeLeased()]
    expect(await java.trySetPermits(4)).toBe(true)
    expect(await node.trySetPermits(6)).toBe(false)
    await agree(java, node, { permits: 4, available: 4, taken: 0 })
    const ids = await java.acquire(1, 30_000)
    const permit = await node.acquire({ permits: 2 })
    await agree(java, node, { permits: 4, available: 1, taken: 3 })
    await node.setPermits(6)
    await agree(java, node, { permits: 6, available: 3, taken: 3 })
    await java.setPermits(5)
    await agree(java, node, { permits: 5, available: 2, taken: 3 })
    await node.addPermits(-1)
    await java.addPermits(2)
    await agree(java, node, { permits: 6, available: 3, taken: 3 })
    expect(await node.drainPermits()).toBe(3)
    await agree(java, node, { permits: 3, available: 0, taken: 3 })
    await node.setPermits(1)
    await agree(java, node, { permits: 1, available: -2, taken: 3 })
    expect(await permit.release()).toBe(true)
    await agree(java, node, { permits: 1, available: 0, taken: 1 })
    expect(await java.tryAcquire()).toEqual([])
    await java.setPermits(2)
    await java.releaseAll(ids)
    await agree(java, node, { permits: 2, available: 2, taken: 0 })
  })

  test('is too small for a larger request in Node, even when Java has set it', async () => {
    const [java, node] = [javaLeased(), nodeLeased()]
    await java.trySetPermits(2)
    const ids = await java.acquire(1, 30_000)
    await expect(node.acquire({ permits: 3 })).rejects.toBeInstanceOf(InvalidArgumentError)
    const waiting = node.acquire({ permits: 2 })
    const refused = expect(waiting).rejects.toBeInstanceOf(InvalidArgumentError)
    await listeners(1)
    await java.addPermits(-1)
    await refused
    await java.releaseAll(ids)
    await agree(java, node, { permits: 1, available: 1, taken: 0 })
  })
})

describe('RPermitExpirableSemaphore and getPermitExpirableSemaphore: permits', () => {
  test('are listed in Node by their ids for both languages, with the rest of their leases', async () => {
    const [java, node] = [javaLeased(), nodeLeased()]
    await node.trySetPermits(5)
    const ids = await java.acquire(2, 20_000)
    const forGood = await java.acquire()
    const permit = await node.acquire({ permits: 2 })
    const { acquired } = await node.inspect()
    const all = [...ids, ...forGood, ...permit.ids]
    expect(all.every((id) => /^[\da-f]{32}$/.test(id))).toBe(true)
    expect(acquired.map(({ id }) => id).sort()).toEqual(all.sort())
    const left = new Map(acquired.map(({ id, ttlMs }) => [id, ttlMs]))
    expect(left.get(forGood[0] as string)).toBeNull()
    expect(left.get(ids[0] as string)).toBeGreaterThan(10_000)
    expect(left.get(permit.ids[0] as string)).toBeGreaterThan(10_000)
    // The answers of Java about the permits.
    expect(await java.getLeaseTime(permit.ids[1] as string)).toBeGreaterThan(10_000)
    expect(await java.getLeaseTime(forGood[0] as string)).toBe(-1)
    expect(await java.tryAcquire()).toEqual([])
    expect(await node.tryAcquire()).toBeNull()
    await java.releaseAll([...ids, ...forGood])
    await permit.release()
    expect(await java.availablePermits()).toBe(5)
  })

  test('acquired in Node are released in Java, all at once', async () => {
    const [java, node] = [javaLeased(), nodeLeased()]
    await java.trySetPermits(3)
    const permit = await node.acquire({ permits: 3 })
    const waiting = nodeLeased().acquire()
    await listeners(1)
    await follows(waiting, () => java.releaseAll(permit.ids))
    expect(await permit.release()).toBe(false)
    expect(permit.valid).toBe(false)
    await (await waiting).release()
    expect(await java.availablePermits()).toBe(3)
  })

  test('acquired in Node are released in Java one by one, and Node releases the rest once', async () => {
    const [java, node] = [javaLeased(), nodeLeased()]
    await java.trySetPermits(3)
    const permit = await node.acquire({ permits: 3 })
    await java.release(permit.ids[1] as string)
    expect(await java.availablePermits()).toBe(1)
    expect(await java.tryRelease(permit.ids[1] as string)).toBe(false)
    expect(await java.tryReleaseAll(permit.ids)).toBe(0)
    expect(await permit.release()).toBe(false)
    expect(await java.availablePermits()).toBe(3)
    expect(await java.tryRelease(permit.ids[0] as string)).toBe(false)
    expect(await node.availablePermits()).toBe(3)
  })

  test('acquired in Node and released in Java are lost at the next renewal', async () => {
    const client = stage.nodeClient({ leaseMs: 1_500 })
    const lost = new Promise<unknown>((resolve) => {
      client.once('lost', ({ error }) => resolve(error))
    })
    const node = client.getPermitExpirableSemaphore(stage.name)
    await node.trySetPermits(2)
    const permit = await node.acquire({ permits: 2 })
    await javaLeased().release(permit.ids[0] as string)
    expect(await lost).toBeInstanceOf(LeaseLostError)
    expect(permit.signal.aborted).toBe(true)
    expect(await permit.release()).toBe(false)
    await eventually(async () => (await node.availablePermits()) === 2, { timeoutMs: 10_000 })
  })

  test('acquired in Node for a fixed time last longer when Java extends them', async () => {
    const [java, node] = [javaLeased(), nodeLeased()]
    await java.trySetPermits(1)
    const permit = await node.acquire({ leaseMs: 3_000 })
    const [id = ''] = permit.ids
    expect(await java.updateLeaseTime(id, 30_000)).toBe(true)
    expect((await node.inspect()).acquired).toMatchObject([{ id }])
    expect((await node.inspect()).acquired[0]?.ttlMs).toBeGreaterThan(15_000)
    // The holder in Node does not know of the longer lease.
    expect(permit.remaining()).toBeLessThanOrEqual(3_000)
    expect(await permit.release()).toBe(true)
    expect(await java.updateLeaseTime(id, 30_000)).toBe(false)
  })

  test('are renewed in Node while they are used, and Java waits', async () => {
    const [java, node] = [javaLeased(), nodeLeased({ leaseMs: 1_500 })]
    await java.trySetPermits(1)
    await node.using(async (permit) => {
      expect(await java.tryAcquire(1, 3_000, 10_000)).toEqual([])
      expect(permit.valid).toBe(true)
    })
    const ids = await java.tryAcquire(1, 0, 10_000)
    expect(ids).toHaveLength(1)
    await java.releaseAll(ids)
  })
})

describe('RPermitExpirableSemaphore: a waiter in Java', () => {
  test.each([
    ['a release', (node: PermitExpirableSemaphore) => node.addPermits(0)],
    ['addPermits', (node: PermitExpirableSemaphore) => node.addPermits(1)],
    ['setPermits', (node: PermitExpirableSemaphore) => node.setPermits(2)],
  ] as const)('is woken by %s of getPermitExpirableSemaphore', async (how, work) => {
    const [java, node] = [javaLeased(), nodeLeased()]
    await node.trySetPermits(1)
    const permit = await node.acquire()
    const waiting = java.acquire(1, 30_000)
    await javaSleeps()
    await follows(waiting, () => (how === 'a release' ? permit.release() : work(node)))
    await java.releaseAll(await waiting)
    await permit.release()
  })

  test('is woken when Node sets the permits that it waits for', async () => {
    const java = javaLeased()
    const waiting = java.acquire(1, 30_000)
    await javaSleeps()
    await follows(waiting, () => nodeLeased().trySetPermits(1))
    await java.releaseAll(await waiting)
  })

  test('for many permits is woken until there are enough, and many waiters are woken by many permits', async () => {
    const node = nodeLeased()
    await node.trySetPermits(5)
    const permits = [await node.acquire({ permits: 2 }), await node.acquire({ permits: 3 })]
    const threads = ['a', 'b', 'c'].map((thread) => javaLeased(thread))
    const waiting = [3, 1, 1].map((count, i) => threads[i]?.acquire(count, 30_000))
    await javaSleeps()
    await follows(Promise.all(waiting), async () => {
      for (const permit of permits) await permit.release()
    })
    expect(await node.availablePermits()).toBe(0)
    for (const ids of await Promise.all(waiting)) await javaLeased().releaseAll(ids as string[])
    expect(await node.availablePermits()).toBe(5)
  })

  test('acquires the permit of a killed Node process when its lease ends', async () => {
    const java = javaLeased()
    await java.trySetPermits(1)
    const args = [stage.server.port, stage.name, 1_200, 'permit'].map(String)
    const child = startChild('test/interop/support/taker.mjs', { args })
    await child.next(undefined, { timeoutMs: 30_000 })
    child.kill('SIGKILL')
    await child.exited
    const start = performance.now()
    const ids = await java.acquire(1, 30_000)
    expect(since(start)).toBeLessThan(SOON_MS)
    expect(await nodeLeased().tryAcquire()).toBeNull()
    expect(await java.getPermits()).toBe(1)
    // Java acquires the permit, and does not change the note about its former holder. This note no longer counts.
    expect((await nodeLeased().inspect()).holders).toMatchObject([{ owner: null, ids }])
    await java.releaseAll(ids)
    // The next acquisition here removes the note.
    await (await nodeLeased().acquire()).release()
    expect(await stage.server.admin.exists(`holdfast_permit_holders:{${stage.name}}`)).toBe(0)
  })
})

describe('getPermitExpirableSemaphore: a waiter in Node', () => {
  test('is woken by a release of RPermitExpirableSemaphore, before its own next request', async () => {
    const java = javaLeased()
    await java.trySetPermits(1)
    const tookMs = await quickest(async () => {
      const [id = ''] = await java.acquire(1, 30_000)
      const waiting = nodeLeased().acquire()
      await nodeHasAsked()
      const start = performance.now()
      await java.release(id)
      const permit = await waiting
      const took = since(start)
      await permit.release()
      return took
    })
    expect(tookMs).toBeLessThan(ASK_AGAIN_MS / 3)
  })

  test.each([
    ['trySetPermits', (java: JavaPermitExpirableSemaphore) => java.trySetPermits(2)],
    ['setPermits', (java: JavaPermitExpirableSemaphore) => java.setPermits(2)],
    ['addPermits', (java: JavaPermitExpirableSemaphore) => java.addPermits(2)],
  ] as const)('acquires permits after %s of Java', async (_, work) => {
    const waiting = nodeLeased().acquire({ permits: 2 })
    await listeners(1)
    await follows(waiting, () => work(javaLeased()))
    await (await waiting).release()
  })

  test('acquires a permit of Java when its lease ends, and the release by Java then fails', async () => {
    const java = javaLeased()
    await java.trySetPermits(1)
    const [id = ''] = await java.acquire(1, 1_200)
    const start = performance.now()
    const permit = await nodeLeased().acquire()
    expect(since(start)).toBeLessThan(SOON_MS)
    await expect(java.release(id)).rejects.toBeInstanceOf(JavaError)
    expect(await java.tryRelease(id)).toBe(false)
    expect(await java.availablePermits()).toBe(0)
    expect(await permit.release()).toBe(true)
    expect(await java.availablePermits()).toBe(1)
  })

  test('acquires the permits of a killed JVM when their lease ends', async () => {
    const jvm = startJava()
    const client = await jvm.client({ port: stage.server.port })
    const java = javaLeased('', client)
    await java.trySetPermits(2)
    await java.acquire(2, 2_000)
    const node = nodeLeased()
    const waiting = node.acquire({ permits: 2 })
    await jvm.kill()
    const start = performance.now()
    const permit = await waiting
    expect(since(start)).toBeLessThan(SOON_MS)
    await permit.release()
    expect(await node.availablePermits()).toBe(2)
  })

  test('releases a permit of Java by its id, and the release by Java then fails', async () => {
    const [java, node] = [javaLeased(), nodeLeased()]
    await java.trySetPermits(2)
    const [id = ''] = await java.acquire(1, 30_000)
    const permit = await node.acquire()
    const { holders } = await node.inspect()
    expect(holders).toContainEqual(expect.objectContaining({ owner: null, ids: [id] }))
    expect(holders).toContainEqual(expect.objectContaining({ owner: permit.owner }))
    expect((await node.why()).text).toMatch(/2 of 2 .* 1 by this client .* 1 by others whose/)
    expect(await node.release(id)).toBe(true)
    expect(await java.availablePermits()).toBe(1)
    expect(await node.release(id)).toBe(false)
    await expect(java.release(id)).rejects.toThrow(JavaError)
    await permit.release()
    expect(await node.availablePermits()).toBe(2)
  })

  test('deletes the semaphore, and Java has no permits until they are set again', async () => {
    const [java, node] = [javaLeased(), nodeLeased()]
    await java.trySetPermits(2)
    await java.acquire(1, 30_000)
    expect(await node.delete()).toBe(true)
    expect(await java.getPermits()).toBe(0)
    expect(await java.trySetPermits(1)).toBe(true)
    const limited = stage.nodeClient().getPermitExpirableSemaphore(stage.name, { permits: 1 })
    await (await limited.acquire()).release()
    expect(await java.availablePermits()).toBe(1)
  })

  test('does not get a permit that Java acquired without a lease until Java releases it', async () => {
    const [java, node] = [javaLeased(), nodeLeased()]
    await java.trySetPermits(1)
    const [id = ''] = await java.acquire()
    expect(
      await stage.server.admin.zrange(`{${stage.name}}:timeout`, '0', '-1', 'WITHSCORES'),
    ).toContain('922337203685477')
    expect(await node.tryAcquire({ waitMs: 2_000 })).toBeNull()
    const waiting = node.acquire()
    await nodeHasAsked()
    await follows(waiting, () => java.release(id))
    await (await waiting).release()
  })

  test('and a waiter in Java get one permit each when two are released', async () => {
    const node = nodeLeased()
    await node.trySetPermits(2)
    const permit = await node.acquire({ permits: 2 })
    const java = javaLeased()
    const waiting = java.acquire(1, 30_000)
    const ours = nodeLeased().acquire()
    await listeners(2)
    await follows(Promise.all([waiting, ours]), () => permit.release())
    expect(await node.availablePermits()).toBe(0)
    await java.releaseAll(await waiting)
    await (await ours).release()
  })

  test('leaves Java all permits after it gives up in time, and has no place in the queue', async () => {
    const [java, node] = [javaLeased(), nodeLeased()]
    await java.trySetPermits(1)
    const ids = await java.acquire(1, 30_000)
    expect(await node.tryAcquire({ waitMs: 1_000 })).toBeNull()
    await listeners(0)
    expect((await node.inspect()).waiting).toEqual([])
    await java.releaseAll(ids)
    expect(await java.availablePermits()).toBe(1)
  })
})

describe('under load', () => {
  const PERMITS = 5
  const THREADS = 6
  const ROUNDS = 12

  /** Tasks in two clients in Node, which do the same as the threads in Java. */
  async function shareHere(take: (task: number) => Promise<() => Promise<unknown>>, used: string) {
    const { admin } = stage.server
    let most = 0
    const task = async (_: unknown, i: number) => {
      const permits = 1 + (i % 2)
      for (let round = 0; round < ROUNDS; round++) {
        const giveBack = await take(i)
        most = Math.max(most, await admin.incrby(used, permits))
        await pause(2)
        await admin.decrby(used, permits)
        await giveBack()
      }
    }
    await Promise.all(Array.from({ length: THREADS }, task))
    return most
  }

  /** Returns the maximum number of permits in use at the same time in both languages, as either language saw it. */
  async function together(
    java: (thread: string) => JavaSemaphore | JavaPermitExpirableSemaphore,
    take: (task: number) => Promise<() => Promise<unknown>>,
  ): Promise<number> {
    const used = `${stage.name}-used`
    atEnd(() => stage.server.admin.del(used).then(() => undefined), { beforeCheck: true })
    const load = { used, threads: THREADS / 2, rounds: ROUNDS }
    const most = await Promise.all([
      java('one').share({ ...load, permits: 1 }),
      java('two').share({ ...load, permits: 2 }),
      shareHere(take, used),
    ])
    expect(await stage.server.admin.get(used)).toBe('0')
    return Math.max(...most)
  }

  /** Returns a function that takes permits of `getSemaphore`, for tasks in two clients. */
  function plainTaking(name = stage.name) {
    const clients = [stage.nodeClient(), stage.nodeClient()]
    const semaphores = clients.map((client) => client.getSemaphore(name))
    return async (task: number) => {
      const semaphore = semaphores[task % 3 === 0 ? 0 : 1] as Semaphore
      const permits = 1 + (task % 2)
      await semaphore.acquire(permits)
      return () => semaphore.release(permits)
    }
  }

  test('RSemaphore and getSemaphore never have more permits in use than exist, and lose none', async () => {
    await javaPlain().trySetPermits(PERMITS)
    const most = await together((thread) => javaPlain(thread), plainTaking())
    report('in use at once', most)
    expect(most).toBeLessThanOrEqual(PERMITS)
    expect(await javaPlain().availablePermits()).toBe(PERMITS)
  })

  test('RPermitExpirableSemaphore and getPermitExpirableSemaphore never have more permits in use than exist, and lose none', async () => {
    await javaLeased().trySetPermits(PERMITS)
    const semaphores = [nodeLeased(), nodeLeased()]
    const most = await together(
      (thread) => javaLeased(thread),
      async (task) => {
        const permits = 1 + (task % 2)
        const permit = await semaphores[task % 3 === 0 ? 0 : 1]?.acquire({ permits })
        return async () => expect(await permit?.release()).toBe(true)
      },
    )
    report('in use at once', most)
    expect(most).toBeLessThanOrEqual(PERMITS)
    expect(await javaLeased().getPermits()).toBe(PERMITS)
    expect(await javaLeased().availablePermits()).toBe(PERMITS)
  })

  test('with two semaphores more permits are in use, so the other tests can fail', async () => {
    const other = `${stage.name}-other`
    atEnd(() => stage.server.admin.del(other).then(() => undefined), { beforeCheck: true })
    await javaPlain().trySetPermits(PERMITS)
    await javaPlain('', other).trySetPermits(PERMITS)
    expect(await together((thread) => javaPlain(thread), plainTaking(other))).toBeGreaterThan(
      PERMITS,
    )
  })
})

describe('RSemaphore and RPermitExpirableSemaphore', () => {
  test.each([
    ['with a tag in their name', '{tag}:', undefined, '{tag}:plain', '{tag}:leased:timeout'],
    ['behind a NameMapper', '', 'app:', '{app:plain}', '{app:leased}:timeout'],
  ])(
    '%s are the semaphores of the same name in Node',
    async (_, before, keyPrefix, tagged, timeout) => {
      const { admin } = stage.server
      const [plainName, leasedName] = [`${before}plain`, `${before}leased`]
      atEnd(
        async () => {
          const names = [plainName, leasedName].map((name) => `${keyPrefix ?? ''}${name}`)
          await admin.del(...names, ...(await admin.keys('holdfast_request:*')))
        },
        { beforeCheck: true },
      )
      const there =
        keyPrefix === undefined
          ? stage.javaClient
          : await stage.newJavaClient({ prefix: keyPrefix })
      const here = stage.nodeClient(keyPrefix === undefined ? {} : { keyPrefix })
      const javaOne = new JavaSemaphore(there, plainName, stage.threadName('plain'))
      const plain = here.getSemaphore(plainName)
      await javaOne.trySetPermits(0)
      const waiting = plain.acquire()
      await eventually(async () => (await plain.inspect()).waiting.length === 1)
      await follows(waiting, () => javaOne.release())
      const inJava = javaOne.acquire()
      await listeners(1, tagged)
      await isQuiet(() => stage.calls('evalsha'))
      await follows(inJava, () => plain.release())

      const thread = stage.threadName('leased')
      const javaOther = new JavaPermitExpirableSemaphore(there, leasedName, thread)
      const leased = here.getPermitExpirableSemaphore(leasedName)
      await javaOther.trySetPermits(2)
      const permit = await leased.acquire()
      const ids = await javaOther.acquire(1, 30_000)
      expect(await admin.zcard(timeout)).toBe(2)
      expect(await leased.tryAcquire()).toBeNull()
      await permit.release()
      await javaOther.releaseAll(ids)
    },
  )
})

function report(what: string, ...values: number[]): void {
  if (process.env.HOLDFAST_REPORT) process.stdout.write(`${what}: ${values.map(Math.round)}\n`)
}
