import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { HoldfastLock } from '../../src/index.ts'
import { atEnd } from '../support/lifetime.ts'
import type { JavaLock } from './support/java.ts'
import { useStage } from './support/stage.ts'

const stage = useStage()

const WORKERS = 8
const ROUNDS = 25

async function newCounter(): Promise<string> {
  const dir = await mkdtemp(join(process.env.HOLDFAST_TEST_DIR ?? tmpdir(), 'counter-'))
  atEnd(() => rm(dir, { recursive: true }))
  const file = join(dir, 'count')
  await writeFile(file, '0')
  return file
}

/** Counts in the file. A task that overlaps with another task loses a count. */
async function countOne(file: string): Promise<void> {
  const count = Number(await readFile(file, 'utf8'))
  await pause(1)
  await writeFile(file, String(count + 1))
}

/** The same number of tasks in Node and threads in Java count in one file. Returns both results and the final count. */
async function countTogether(node: HoldfastLock, java: JavaLock) {
  const file = await newCounter()
  const task = async () => {
    for (let round = 0; round < ROUNDS; round++) await node.using(() => countOne(file))
    return ROUNDS
  }
  const [here, there] = await Promise.all([
    Promise.all(Array.from({ length: WORKERS }, task)),
    java.count(file, WORKERS, ROUNDS),
  ])
  const acquisitions = [...here, ...there].reduce((sum, one) => sum + one, 0)
  return { acquisitions, counted: Number(await readFile(file, 'utf8')) }
}

test.each([
  ['RLock', 'getLock'],
  ['RLock', 'getFairLock'],
  ['RFencedLock', 'getLock'],
  ['RFairLock', 'getFairLock'],
] as const)(
  '%s and %s: 8 threads of Java and 8 tasks of Node lose no count in one plain file',
  async (kind, ours) => {
    const together = await countTogether(stage.nodeLock(ours), stage.javaLock({ kind }))
    expect(together.acquisitions).toBe(2 * WORKERS * ROUNDS)
    expect(together.counted).toBe(together.acquisitions)
  },
)

test('RLock: two different locks do lose counts, so the other test can fail', async () => {
  const java = stage.javaLock({ name: 'another' })
  const { acquisitions, counted } = await countTogether(stage.nodeLock(), java)
  expect(counted).toBeLessThan(acquisitions)
})
