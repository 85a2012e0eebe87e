import { eventually } from '../support/eventually.ts'
import { within } from '../support/fault-rig.ts'
import { listening, queued, scriptsRun, semaphoreOf, semaphoreRig } from './support.ts'

const rig = semaphoreRig()

/** Starts waiters, each in its own client, in a known order. */
async function waitersOf(count: number) {
  const theirs = semaphoreOf(rig.witness())
  await theirs.trySetPermits(0)
  const before = await scriptsRun(rig)
  const served: number[] = []
  const all = Array.from({ length: count }, async (_, i) => {
    await semaphoreOf(rig.witness()).acquire()
    served.push(i)
  })
  await queued(rig, count)
  await listening(rig, count)
  // Each waiter checks once more after its subscription, and then sleeps.
  await eventually(async () => (await scriptsRun(rig)) >= before + 2 * count)
  return { theirs, served, all: Promise.all(all) }
}

/** The maximum number of further requests of the waiters: one each second, and one after the subscription. */
const asksMeanwhile = (waiters: number, sinceMs: number) =>
  waiters * (1 + Math.ceil((performance.now() - sinceMs) / 1_000))

test.each([2, 10, 40])('a release wakes one of %d waiters', async (waiters) => {
  const { theirs, served, all } = await waitersOf(waiters)
  const releases = Math.min(waiters, 10)
  const [before, since] = [await scriptsRun(rig), performance.now()]
  for (let n = 1; n <= releases; n++) {
    await theirs.release()
    await eventually(() => served.length === n)
  }
  const scripts = (await scriptsRun(rig)) - before
  // One script for the release, and one for the waiter that it wakes.
  expect(scripts).toBeGreaterThanOrEqual(2 * releases)
  expect(scripts).toBeLessThanOrEqual(2 * releases + asksMeanwhile(waiters, since))
  if (waiters > releases) await theirs.release(waiters - releases)
  await within(5_000, all)
})

test('a release of several permits wakes as many waiters as there are permits, with few scripts', async () => {
  const { theirs, served, all } = await waitersOf(12)
  const [before, since] = [await scriptsRun(rig), performance.now()]
  await theirs.release(5)
  await eventually(() => served.length >= 5)
  const scripts = (await scriptsRun(rig)) - before
  expect(scripts).toBeLessThanOrEqual(1 + 5 + asksMeanwhile(12, since))
  expect(await theirs.availablePermits()).toBe(0)
  expect(served.length).toBe(5)
  await theirs.release(7)
  await within(5_000, all)
})

test('waiters of one client are served one after the other, with few scripts each', async () => {
  const [semaphore, theirs] = [semaphoreOf(rig.client()), semaphoreOf(rig.witness())]
  await theirs.trySetPermits(1)
  await semaphore.acquire()
  const all = Array.from({ length: 30 }, () => semaphore.using(() => undefined))
  await queued(rig, 1)
  await listening(rig, 1)
  const [before, since] = [await scriptsRun(rig), performance.now()]
  await semaphore.release()
  await within(5_000, Promise.all(all))
  // Each waiter needs one request at its turn, possibly one more after a message, and one release.
  const scripts = (await scriptsRun(rig)) - before
  expect(scripts).toBeLessThanOrEqual(30 * 3 + 2 + asksMeanwhile(1, since))
})
