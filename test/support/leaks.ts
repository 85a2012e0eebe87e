/**
 * Jest loads this file before every test file. A test fails if it leaves something behind, or if it causes an
 * unexpected warning. Leaks are timers, sockets, subscriptions, and keys other than a token counter with a TTL.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { type Baseline, type Leaves, leaksSince, takeBaseline } from './leak-check.ts'
import { beginTest, endBeforeCheck, endTest, last } from './lifetime.ts'
import { watchTimers } from './pending-timers.ts'
import { beginWarnings, failOnWarnings, watchWarnings } from './warnings.ts'

/**
 * A socket closes a moment after the call that ends it, so the leak check repeats for this many milliseconds. This must
 * be longer than 2 s: a timer of ioredis runs that long after a `disconnect()` without a connection.
 */
const LEAK_CHECK_MS = Number(process.env.HOLDFAST_LEAK_CHECK_MS ?? 2_500)
/** The leak check repeats at least this often, because this process may get little CPU time on a busy machine. */
const FEWEST_CHECKS = LEAK_CHECK_MS / 10
const HOOK_TIMEOUT_MS = 20_000

let baseline: Baseline | undefined
let allowed: Leaves | undefined

/** Skips a part of the leak check for the running test: `leaves({ keys: true, why: '…' })`. */
export function leaves(what: Leaves): void {
  allowed = { ...allowed, ...what }
}

watchTimers()
watchWarnings()

beforeEach(async () => {
  beginTest()
  beginWarnings()
  allowed = undefined
  baseline = await takeBaseline()
}, HOOK_TIMEOUT_MS)

afterEach(
  last(async () => {
    try {
      await endBeforeCheck()
      if (baseline) await failOnLeaks(baseline)
    } finally {
      baseline = undefined
      await endTest()
    }
    failOnWarnings()
  }),
  HOOK_TIMEOUT_MS,
)

async function failOnLeaks(before: Baseline): Promise<void> {
  const deadline = performance.now() + LEAK_CHECK_MS
  for (let checks = 1; ; checks++) {
    const leaks = await leaksSince(before, allowed)
    if (leaks.length === 0) return
    if (performance.now() > deadline && checks > FEWEST_CHECKS) {
      throw new Error(`The test left behind:\n${leaks.map((leak) => `  - ${leak}`).join('\n')}`)
    }
    await pause(5)
  }
}
