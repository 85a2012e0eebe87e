import { type Child, startChild } from '../support/children.ts'
import { eventually } from '../support/eventually.ts'
import { faultRig, within } from '../support/fault-rig.ts'

/** Processes that are stopped, or whose event loop is blocked, when they receive the lock. */
const rig = faultRig()

const CLAIM_MS = 1_500
/** The extra time of a busy machine, in milliseconds. */
const NOISE_MS = 1_500

/** A time in milliseconds that all processes of the machine share, and that is never adjusted. */
const now = () => Number(process.hrtime.bigint()) / 1e6

/** The time in which a client believed that it held the lock, by the clock that all processes share. */
interface Turn {
  who: string
  token: number
  from: number
  to: number
}

interface Said {
  token: number
  valid: boolean
  aborted: boolean
  from: number
  to: number
}

async function waiter(options = {}): Promise<Child> {
  const given = JSON.stringify({ redis: rig.server.url, options })
  const child = startChild('test/fair/fixtures/waiter.mjs', { args: [given] })
  await child.next((message) => message === 'ready')
  return child
}

const saysTurn = (child: Child, timeoutMs = 15_000) =>
  child.next<Said>((message) => typeof message === 'object' && 'token' in message, { timeoutMs })

/** A witness that queues, and holds the lock for a moment. */
function queueUp(who: string, turns: Turn[]): Promise<void> {
  return rig
    .witness()
    .getFairLock('it')
    .using(async (lease) => {
      const from = now()
      await new Promise((resolve) => setTimeout(resolve, 20))
      turns.push({ who, token: lease.token, from, to: now() })
    })
}

function expectOneAtATime(turns: Turn[]): void {
  const inOrder = [...turns].sort((a, b) => a.token - b.token)
  for (const [i, turn] of inOrder.entries()) {
    if (i > 0) expect(turn.from).toBeGreaterThanOrEqual(inOrder[i - 1]?.to as number)
  }
}

test.each([300, 700, 1_100, 2_000, 4_000])(
  'a waiter that is blocked for %i ms at its grant is served, and never holds the lock beside another holder',
  async (ms) => {
    const child = await waiter()
    const held = await rig.witness().getFairLock('it').lock()
    child.send({ command: 'lock' })
    await rig.queued('it', 1)
    const turns: Turn[] = []
    const others = [queueUp('second', turns)]
    await rig.queued('it', 2)
    others.push(queueUp('third', turns))
    await rig.queued('it', 3)
    child.send({ command: 'block', ms })
    await child.next((message) => message === 'blocks')
    await held.release()
    const said = await saysTurn(child)
    await within(20_000, Promise.all(others))
    if (said.valid) turns.push({ who: 'child', ...said })
    expectOneAtATime(turns)
    const order = turns.sort((a, b) => a.token - b.token).map(({ who }) => who)
    if (ms < 1_000) expect(order).toEqual(['child', 'second', 'third'])
    // If the block is much longer than the claim window, the others do not wait for its end.
    if (ms >= CLAIM_MS + NOISE_MS) {
      const others = turns.filter(({ who }) => who !== 'child')
      for (const { from } of others) expect(from).toBeLessThan(said.from)
    }
    child.send({ command: 'close' })
    await child.next((message) => message === 'closed')
  },
)

test.each([200, 1_000, 2_000, 4_000])(
  'a holder that is blocked for %i ms after its grant knows whether its lease is still valid',
  async (ms) => {
    const child = await waiter()
    const held = await rig.witness().getFairLock('it').lock()
    child.send({ command: 'lock', ms })
    await rig.queued('it', 1)
    const turns: Turn[] = []
    const other = queueUp('second', turns)
    await rig.queued('it', 2)
    await held.release()
    const said = await saysTurn(child)
    await within(10_000, other)
    expect(said.aborted).toBe(!said.valid)
    if (said.valid) turns.push({ who: 'child', ...said })
    if (ms <= 200) expect(said.valid).toBe(true)
    expectOneAtATime(turns)
    child.send({ command: 'close' })
    await child.next((message) => message === 'closed')
  },
)

test('the watchdog thread keeps the lock of a holder that is blocked right after its grant', async () => {
  const child = await waiter({ watchdogThread: true })
  const held = await rig.witness().getFairLock('it').lock()
  child.send({ command: 'lock', ms: 3_000 })
  await rig.queued('it', 1)
  await held.release()
  expect(await saysTurn(child)).toMatchObject({ valid: true, aborted: false })
  expect(await child.next()).toEqual({ released: true })
  child.send({ command: 'close' })
  await child.next((message) => message === 'closed')
})

test.each([100, 600])(
  'a blocked waiter with a lease of %i ms, shorter than the claim window, never holds the lock beside another holder',
  async (leaseMs) => {
    const child = await waiter()
    const held = await rig.witness().getFairLock('it').lock()
    child.send({ command: 'lock', leaseMs })
    await rig.queued('it', 1)
    const turns: Turn[] = []
    const other = queueUp('second', turns)
    await rig.queued('it', 2)
    // Much longer than the claim window, so that a pause of this process does not change the order.
    child.send({ command: 'block', ms: leaseMs + 1_500 })
    await child.next((message) => message === 'blocks')
    await held.release()
    await within(leaseMs + NOISE_MS, other)
    const said = await saysTurn(child)
    if (said.valid) turns.push({ who: 'child', ...said })
    expectOneAtATime(turns)
    expect(turns.map(({ who }) => who)).toEqual(said.valid ? ['second', 'child'] : ['second'])
    child.send({ command: 'close' })
    await child.next((message) => message === 'closed')
  },
)

test('a waiter that is stopped for seconds delays no other waiter, and is served after it continues', async () => {
  const child = await waiter()
  const held = await rig.witness().getFairLock('it').lock()
  child.send({ command: 'lock' })
  await rig.queued('it', 1)
  child.kill('SIGSTOP')
  const turns: Turn[] = []
  const other = queueUp('second', turns)
  await rig.queued('it', 2)
  await held.release()
  await within(CLAIM_MS + NOISE_MS, other)
  await eventually(async () => (await rig.queue('it')).length === 0)
  const between = await rig.witness().getFairLock('it').lock()
  child.kill('SIGCONT')
  await rig.queued('it', 1)
  await between.release()
  const said = await saysTurn(child)
  expect(said.valid).toBe(true)
  expect(said.token).toBeGreaterThan(between.token)
  child.send({ command: 'close' })
  await child.next((message) => message === 'closed')
})
