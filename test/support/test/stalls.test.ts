import { setTimeout as pause } from 'node:timers/promises'
import { within } from '../fault-rig.ts'
import { Stalls } from '../stalls.ts'
import { takes } from '../takes.ts'

/** Blocks the event loop. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

test('stalls are the time in which the event loop is blocked', async () => {
  const stalls = new Stalls()
  block(500)
  await pause(50)
  block(500)
  expect(stalls.ms).toBeGreaterThan(900)
  stalls.stop()
})

test('a limit does not count the time in which this process stands still', async () => {
  const work = async () => {
    await pause(1)
    block(1_500)
    await pause(50)
    return 'done'
  }
  expect(await within(1_000, work())).toBe('done')
  expect(await takes({ atMost: 1_000 }, work)).toBe('done')
})

test('within fails if the work takes longer than its limit', async () => {
  await expect(within(20, pause(20_000, 'late', { ref: false }))).rejects.toThrow(
    /^It took longer than \d+ ms$/,
  )
})
