import { ClosedError } from '../../src/index.ts'
import { BackgroundTasks } from '../../src/kit/background-tasks.ts'
import { pause, systemClock } from '../../src/kit/clock.ts'
import { closeAll } from '../../src/local/close-all.ts'
import type { CutOffHold } from '../../src/local/holdings.ts'
import type { LocalLock } from '../../src/local/local-lock.ts'

/** `close()` has at most this many releases in flight. */
const MOST = 1_000
const COMMAND_TIMEOUT_MS = 1_000

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

/** A lock with one hold, as `closeAll` sees it. */
function heldLock(n: number): LocalLock {
  const nothing = () => {}
  const hold = {
    ...{ lockName: `many:${n}`, id: { ownerId: `c:${n}` }, token: n, count: 1, beganAt: 0 },
    ...{ kind: { name: 'lock' }, owner: {}, live: true },
    ...{ remainingMs: () => 10_000, loseIfExpired: nothing },
  }
  return {
    name: hold.lockName,
    holds: { all: [hold], endHold: nothing },
    waiters: { rejectAll: nothing },
    tasks: new BackgroundTasks(),
    services: { clock: systemClock, limits: { commandTimeoutMs: COMMAND_TIMEOUT_MS } },
  } as unknown as LocalLock
}

/** Closes `all` locks. Without a confirmation, the wait for the releases lasts at most `COMMAND_TIMEOUT_MS`. */
function close(all: number, release: () => Promise<boolean>) {
  const locks = Array.from({ length: all }, (_, n) => heldLock(n))
  const releasing = new Set<CutOffHold>()
  const reasonOf = () => new ClosedError('closed')
  const { untilReleased } = closeAll(locks, reasonOf, release, 0, releasing)
  const closing = { releasing, isOver: false }
  void untilReleased(COMMAND_TIMEOUT_MS).then(() => {
    closing.isOver = true
  })
  return closing
}

test('the wait for the releases continues while releases are confirmed', async () => {
  // Six round trips of 200 ms, so the last release is confirmed after more than the limit of one wait.
  const closing = close(6 * MOST, async () => {
    await pause(systemClock, 200)
    return true
  })
  await jest.advanceTimersByTimeAsync(COMMAND_TIMEOUT_MS + 100)
  expect(closing).toMatchObject({ isOver: false })
  expect(closing.releasing.size).toBe(MOST)
  await jest.advanceTimersByTimeAsync(100)
  expect(closing).toMatchObject({ isOver: true })
  expect(closing.releasing.size).toBe(0)
})

test('the wait for the releases ends if no release is confirmed', async () => {
  const closing = close(2 * MOST, () => new Promise(() => {}))
  await jest.advanceTimersByTimeAsync(COMMAND_TIMEOUT_MS - 1)
  expect(closing).toMatchObject({ isOver: false })
  await jest.advanceTimersByTimeAsync(1)
  expect(closing).toMatchObject({ isOver: true })
  expect(closing.releasing.size).toBe(2 * MOST)
})
