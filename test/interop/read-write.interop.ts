import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type HoldfastLock, RedisRefusedError } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { staysPending } from './support/pending.ts'
import { NOT_HELD, readWriteOn, SOON_MS, since } from './support/read-write.ts'
import { useStage } from './support/stage.ts'

const stage = useStage()
const { javaRead, javaWrite, nodeLock, take, listeners, javaSleeps, timeouts, timeoutOf } =
  readWriteOn(stage)

/** A waiter in Node checks again after this time, with or without a message, in milliseconds. */
const ASK_AGAIN_MS = 1_000

/** Resolves when the only waiter, which is in Node, listens and has just sent another request. */
async function nodeHasAsked(): Promise<void> {
  await listeners(1)
  const before = await stage.calls('evalsha')
  await eventually(async () => (await stage.calls('evalsha')) > before)
}

describe('RReadWriteLock and getReadWriteLock', () => {
  test('many owners read at once in both languages, each with its own lease', async () => {
    const readers = [javaRead({ thread: 'a' }), javaRead({ thread: 'b' })]
    await readers[0]?.lock()
    const lease = await nodeLock().readLock().lock(20_000)
    expect(await readers[1]?.tryLock()).toBe(true)
    const second = await nodeLock().readLock().tryLock()
    const owners = [
      await stage.javaOwner('a'),
      await stage.javaOwner('b'),
      lease.owner,
      second?.owner as string,
    ]
    const counts = Object.fromEntries(owners.map((owner) => [owner, '1']))
    expect(await stage.hash()).toEqual({ mode: 'read', ...counts })
    expect(Object.keys(await timeouts())).toEqual(owners.map((owner) => timeoutOf(owner)).sort())
    const { mode, holders } = await nodeLock().inspect()
    expect(mode).toBe('read')
    expect(holders.map(({ owner }) => owner).sort()).toEqual([...owners].sort())
    await lease.release()
    await second?.release()
    for (const reader of readers) await reader.unlock()
    expect(await stage.hash()).toEqual({})
    expect(await timeouts()).toEqual({})
  })

  test('show the age of holds in Node alone, and Java does not change the key of the age', async () => {
    const javaReads = javaRead({ thread: 'a' })
    await javaReads.lock()
    const lease = await nodeLock().readLock().lock(20_000)
    const since = () => stage.server.admin.get(timeoutOf(lease.owner))
    const before = await since()
    expect(Number(before)).toBeGreaterThan(1e15)
    const ages = async () => {
      const { holders } = await nodeLock().inspect()
      return Object.fromEntries(holders.map(({ owner, ageMs }) => [owner, ageMs]))
    }
    const java = await stage.javaOwner('a')
    expect(await ages()).toEqual({ [java]: null, [lease.owner]: expect.any(Number) })
    // Each of these calls reads or sets all leases.
    await javaReads.lock()
    await javaReads.unlock()
    expect(await javaWrite({ thread: 'b' }).tryLock()).toBe(false)
    await javaReads.unlock()
    expect(await since()).toBe(before)
    expect(await ages()).toEqual({ [lease.owner]: expect.any(Number) })
    await lease.release()
    const javaWrites = javaWrite({ thread: 'a' })
    await javaWrites.lock()
    expect(Object.values(await ages())).toEqual([null])
    await javaWrites.unlock()
  })

  test.each([
    ['a reader of Java', true],
    ['a reader here', true],
    ['a writer of Java', false],
    ['a writer here', false],
  ] as const)(
    'beside %s no owner can write, and reading is %s, in both languages',
    async (who, reads) => {
      const hold = await take[who]()
      const java = { thread: 'other' }
      expect(await javaWrite(java).tryLock()).toBe(false)
      expect(await nodeLock().writeLock().tryLock()).toBeNull()
      expect(await nodeLock().writeLock().tryLock(2_000)).toBeNull()
      expect(await javaRead(java).tryLock()).toBe(reads)
      if (reads) await javaRead(java).unlock()
      const lease = await nodeLock().readLock().tryLock()
      expect(lease !== null).toBe(reads)
      await lease?.release()
      // The answers of each side about the other side.
      expect(await javaRead(java).isLocked()).toBe(reads)
      expect(await javaWrite(java).isLocked()).toBe(!reads)
      expect(await nodeLock().readLock().isLocked()).toBe(reads)
      expect(await nodeLock().writeLock().isLocked()).toBe(!reads)
      expect(await javaWrite(java).isHeldByCurrentThread()).toBe(false)
      await expect(javaRead(java).unlock()).rejects.toMatchObject(NOT_HELD)
      await expect(javaWrite(java).unlock()).rejects.toMatchObject(NOT_HELD)
      await hold.release()
      expect(await javaWrite(java).tryLock()).toBe(true)
      await javaWrite(java).unlock()
      await (await nodeLock().writeLock().tryLock())?.release()
      expect(await stage.hash()).toEqual({})
    },
  )

  test('the last reader, in either language, wakes a waiting writer', async () => {
    const java = javaRead()
    await java.lock()
    const lease = await nodeLock().readLock().lock()
    const waiting = javaWrite({ thread: 'writer' }).lock()
    await javaSleeps()
    await lease.release()
    await staysPending(waiting)
    const start = performance.now()
    await java.unlock()
    await waiting
    const writing = nodeLock().writeLock().lock()
    await staysPending(writing)
    await javaWrite({ thread: 'writer' }).unlock()
    await (await writing).release()
    expect(since(start)).toBeLessThan(SOON_MS)
  })
})

describe('RReadWriteLock: a waiter in Java', () => {
  test.each([
    ['that writes', 'a reader here', javaWrite],
    ['that writes', 'a writer here', javaWrite],
    ['that reads', 'a writer here', javaRead],
  ] as const)(
    '%s acquires the lock at the release of %s, not at the end of its lease',
    async (_, who, side) => {
      const hold = await take[who]()
      const java = side()
      const waiting = java.lock()
      await javaSleeps()
      expect(await stage.pttl()).toBeGreaterThan(2 * SOON_MS)
      const start = performance.now()
      await hold.release()
      await waiting
      report(`Java ${_}, after ${who}`, since(start))
      expect(since(start)).toBeLessThan(SOON_MS)
      await java.unlock()
    },
  )

  test('acquires the read lock together with all other readers, when a writer in Node releases', async () => {
    const hold = await take['a writer here']()
    const readers = ['a', 'b', 'c'].map((thread) => javaRead({ thread }))
    const waiting = readers.map((reader) => reader.lock())
    const lease = nodeLock().readLock().lock()
    await listeners(2)
    await eventually(async () => (await stage.calls('pttl')) >= 2 * readers.length + 1)
    const start = performance.now()
    await hold.release()
    await Promise.all(waiting)
    await lease
    expect(since(start)).toBeLessThan(SOON_MS)
    expect(Object.keys(await stage.hash())).toHaveLength(5)
    for (const reader of readers) await reader.unlock()
    await (await lease).release()
  })

  test('leaves Node the lock after it gives up in time', async () => {
    const lease = await nodeLock().readLock().lock()
    expect(await javaWrite().tryLock(500)).toBe(false)
    await listeners(0)
    expect(await lease.release()).toBe(true)
  })
})

describe('getReadWriteLock: a waiter in Node', () => {
  test.each([
    ['that writes', 'a reader of Java', 'writeLock'],
    ['that writes', 'a writer of Java', 'writeLock'],
    ['that reads', 'a writer of Java', 'readLock'],
  ] as const)(
    '%s acquires the lock at the unlock of %s, before its own next request',
    async (_, who, side) => {
      const tookMs: number[] = []
      // On a busy machine, one round may be late. Without a message, each round would wait for the next check.
      for (let round = 0; round < 5 && !tookMs.some((ms) => ms < ASK_AGAIN_MS / 3); round++) {
        const hold = await take[who]()
        const waiting = nodeLock()[side]().lock()
        await nodeHasAsked()
        const start = performance.now()
        await hold.release()
        const lease = await waiting
        tookMs.push(since(start))
        await lease.release()
        await listeners(0)
      }
      report(`here ${_}, after ${who}`, Math.min(...tookMs))
      expect(Math.min(...tookMs)).toBeLessThan(ASK_AGAIN_MS / 3)
    },
  )

  test('leaves Java the lock after it gives up in time, and has no place in the queue', async () => {
    const java = javaRead()
    await java.lock()
    expect(await nodeLock().writeLock().tryLock(150)).toBeNull()
    await listeners(0)
    expect((await nodeLock().inspect()).waitingToWrite).toEqual([])
    expect(await java.isHeldByCurrentThread()).toBe(true)
    await java.unlock()
  })

  test('for the write lock blocks later readers in Node, but not in Java', async () => {
    const java = javaRead({ thread: 'a' })
    await java.lock()
    const writing = nodeLock().writeLock().lock()
    await listeners(1)
    expect(await nodeLock().readLock().tryLock()).toBeNull()
    expect(await javaRead({ thread: 'b' }).tryLock()).toBe(true)
    await java.unlock()
    await staysPending(writing)
    await javaRead({ thread: 'b' }).unlock()
    await (await writing).release()
  })
})

describe('RReadWriteLock and getReadWriteLock: a writer that continues as a reader', () => {
  test('in Node admits readers of Java, but no writer', async () => {
    const node = nodeLock({ leaseMs: 2 * SOON_MS })
    const tookMs: number[] = []
    // On a busy machine, a message may reach Java between its check and its sleep. Java then waits for the end of the
    // lease.
    for (let round = 0; round < 3 && !tookMs.some((ms) => ms < SOON_MS); round++) {
      const writing = await node.writeLock().lock()
      const reading = await node.readLock().lock()
      expect(await stage.hash()).toEqual({
        mode: 'write',
        [reading.owner]: '1',
        [writing.owner]: '1',
      })
      const readers = ['a', 'b'].map((thread) => javaRead({ thread }))
      const waiting = readers.map((reader) => reader.lock())
      const writer = javaWrite({ thread: 'writer' })
      const written = writer.lock()
      await javaSleeps()
      const start = performance.now()
      await writing.release()
      await Promise.all(waiting)
      const readersMs = since(start)
      expect(reading.valid).toBe(true)
      expect((await stage.hash())[reading.owner]).toBe('1')
      await staysPending(written)
      for (const reader of readers) await reader.unlock()
      await staysPending(written)
      const left = performance.now()
      expect(await reading.release()).toBe(true)
      await written
      tookMs.push(Math.max(readersMs, since(left)))
      await writer.unlock()
      await listeners(0)
    }
    expect(Math.min(...tookMs)).toBeLessThan(SOON_MS)
  })

  test('in Java admits readers of Node without a message, but no writer', async () => {
    const java = { thread: 'java' }
    await javaWrite(java).lock()
    await javaRead(java).lock()
    expect(await nodeLock().readLock().tryLock()).toBeNull()
    const waiting = nodeLock().readLock().lock()
    await listeners(1)
    const start = performance.now()
    await javaWrite(java).unlock()
    const reading = await waiting
    expect(since(start)).toBeLessThan(SOON_MS)
    const { holders } = await nodeLock().inspect()
    const owners = [await stage.javaOwner('java'), reading.owner]
    expect(holders.map(({ owner }) => owner).sort()).toEqual(owners.sort())
    expect(await nodeLock().writeLock().tryLock()).toBeNull()
    expect(await javaRead(java).getHoldCount()).toBe(1)
    await javaRead(java).unlock()
    await reading.release()
    expect(await stage.hash()).toEqual({})
  })

  test('in Node after the upgradable lock waits until the readers of Java have released', async () => {
    const node = nodeLock()
    const upgradable = await node.upgradableLock().lock()
    const java = javaRead()
    expect(await java.tryLock()).toBe(true)
    const waiting = node.writeLock().lock()
    await listeners(1)
    await staysPending(waiting)
    const start = performance.now()
    await java.unlock()
    const writing = await waiting
    expect(since(start)).toBeLessThan(SOON_MS)
    expect(await java.tryLock()).toBe(false)
    await writing.release()
    expect(await java.tryLock()).toBe(true)
    expect(await javaWrite().tryLock()).toBe(false)
    await java.unlock()
    await upgradable.release()
    expect(await stage.hash()).toEqual({})
  })
})

describe('under load', () => {
  const WRITERS = 4
  const READERS = 6
  const ROUNDS = 15

  async function newFiles(): Promise<string[]> {
    const dir = await mkdtemp(join(process.env.HOLDFAST_TEST_DIR ?? tmpdir(), 'pairs-'))
    atEnd(() => rm(dir, { recursive: true }))
    const files = ['first', 'second'].map((name) => join(dir, name))
    for (const file of files) await writeFile(file, '0')
    return files
  }

  async function writeBoth(files: string[]): Promise<boolean> {
    for (const file of files) {
      const count = Number(await readFile(file, 'utf8'))
      await pause(1)
      await writeFile(file, String(count + 1))
    }
    return true
  }

  async function isTorn([first, second]: string[]): Promise<boolean> {
    const before = await readFile(first as string, 'utf8')
    await pause(1)
    return before !== (await readFile(second as string, 'utf8'))
  }

  async function under(lock: () => HoldfastLock, tasks: number, work: () => Promise<boolean>) {
    let count = 0
    const task = async () => {
      for (let round = 0; round < ROUNDS; round++) {
        if (await lock().using(work)) count += 1
      }
    }
    await Promise.all(Array.from({ length: tasks }, task))
    return count
  }

  /** Threads in Java and tasks in Node count in two files, and compare the files. */
  async function together(name: string) {
    const files = await newFiles()
    const clients = [stage.nodeClient(), stage.nodeClient()]
    const lockOf = (client: (typeof clients)[0]) => client.getReadWriteLock(stage.name)
    const threads = { files, writers: WRITERS, readers: READERS, rounds: ROUNDS }
    const [java, writes, reads] = await Promise.all([
      stage.javaClient.pairs(name, threads),
      Promise.all(
        clients.map((each) =>
          under(
            () => lockOf(each).writeLock(),
            WRITERS / 2,
            () => writeBoth(files),
          ),
        ),
      ),
      Promise.all(
        clients.map((each) =>
          under(
            () => lockOf(each).readLock(),
            READERS / 2,
            () => isTorn(files),
          ),
        ),
      ),
    ])
    const sum = (counts: number[]) => counts.reduce((total, one) => total + one, 0)
    return {
      written: java[0] + sum(writes),
      torn: java[1] + sum(reads),
      counted: await Promise.all(files.map(async (file) => Number(await readFile(file, 'utf8')))),
    }
  }

  test('writers in both languages lose no count, and readers see no torn state', async () => {
    const { written, torn, counted } = await together(stage.name)
    expect(written).toBe(2 * WRITERS * ROUNDS)
    expect(counted).toEqual([written, written])
    expect(torn).toBe(0)
    expect(await stage.hash()).toEqual({})
  })

  test('with two locks, writers lose counts and readers see torn states, so the other test can fail', async () => {
    const { written, torn, counted } = await together('another')
    expect(torn).toBeGreaterThan(0)
    expect(Math.min(...counted)).toBeLessThan(written)
  })
})

describe('RLock of Java on the name of a read-write lock of Node, by accident,', () => {
  test.each(['readLock', 'writeLock'] as const)(
    'is not granted while Node holds the %s',
    async (side) => {
      const java = stage.javaLock()
      const lease = await nodeLock()[side]().lock()
      const before = await stage.hash()
      expect(await java.tryLock()).toBe(false)
      await expect(java.unlock()).rejects.toMatchObject(NOT_HELD)
      expect(await stage.hash()).toEqual(before)
      expect(lease.valid).toBe(true)
      expect(await lease.release()).toBe(true)
      expect(await java.tryLock()).toBe(true)
      await java.unlock()
    },
  )

  test.each(['readLock', 'writeLock'] as const)(
    'blocks the %s in Node with a refusal, and stays unchanged',
    async (side) => {
      const java = stage.javaLock()
      await java.lock()
      const before = await stage.hash()
      const node = nodeLock()
      const refusal = { code: 'HOLDFAST_REFUSED' }
      await expect(node[side]().lock()).rejects.toBeInstanceOf(RedisRefusedError)
      await expect(node[side]().tryLock()).rejects.toMatchObject(refusal)
      await expect(node[side]().tryLock(1_000)).rejects.toMatchObject(refusal)
      await expect(node[side]().forceUnlock()).rejects.toMatchObject(refusal)
      await expect(node.inspect()).rejects.toMatchObject(refusal)
      expect(await stage.hash()).toEqual(before)
      await java.unlock()
      await (await node[side]().lock()).release()
    },
  )

  test('is granted at the end of the lease that Java saw, because the release in Node sends no message', async () => {
    const java = stage.javaLock()
    const lease = await nodeLock().readLock().lock(2_000)
    const waiting = java.lock()
    await stage.javaSleeps()
    const seen = await stage.pttl()
    const start = performance.now()
    await lease.release()
    await staysPending(waiting)
    await waiting
    expect(since(start)).toBeGreaterThan(seen - 100)
    expect(since(start)).toBeLessThan(SOON_MS)
    await java.unlock()
  })

  test('causes a refusal for a waiter in Node when it replaces a read-write lock', async () => {
    const { admin } = stage.server
    const other = `${stage.name}-other`
    await javaWrite({ thread: 'holder' }).lock(20_000)
    const waiting = nodeLock().readLock().lock()
    waiting.catch(() => undefined)
    await listeners(1)
    await stage.javaLock({ thread: 'plain', name: other }).lock(20_000)
    await admin.rename(other, stage.name)
    await expect(waiting).rejects.toBeInstanceOf(RedisRefusedError)
    await stage.javaLock({ thread: 'plain' }).unlock()
  })
})

function report(what: string, ms: number): void {
  if (process.env.HOLDFAST_REPORT) process.stdout.write(`${what}: ${ms.toFixed(0)} ms\n`)
}
