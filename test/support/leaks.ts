/**
 * Loaded before every test file: a test that leaves something behind fails, and so does one with a warning that it
 * does not expect. What may be left behind is a timer, a socket, a subscription, or a key other than a token counter
 * with a TTL.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { type Baseline, type Leaves, leaksSince, takeBaseline } from './leak-check.ts'
import { beginTest, endBeforeCheck, endTest, last } from './lifetime.ts'
import { watchTimers } from './pending-timers.ts'
import { beginWarnings, failOnWarnings, watchWarnings } from './warnings.ts'

/**
 * Sockets close a moment after the call that ends them: look for this long. It is more than the 2 s of
 * the timer which ioredis leaves behind when it is told to disconnect while it has no connection.
 */
const LEAK_CHECK_MS = Number(process.env.HOLDFAST_LEAK_CHECK_MS ?? 2_500)
/** And so often at least: on a busy machine this process gets less done in that time. */
const FEWEST_CHECKS = LEAK_CHECK_MS / 10
const HOOK_TIMEOUT_MS = 20_000

let baseline: Baseline | undefined
let allowed: Leaves | undefined

/** Excuses the running test from a part of the check, for a reason: `leaves({ keys: true, why: '…' })`. */
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
