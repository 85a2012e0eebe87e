import { setTimeout as pause } from 'node:timers/promises'
import { atLoad } from '../support/at-load.ts'
import { type Child, startChild } from '../support/children.ts'
import { eventually, never } from '../support/eventually.ts'
import { faultRig, within } from '../support/fault-rig.ts'

/** Leaders whose process is killed, or stopped and continued. */
const rig = faultRig()

const LEASE_MS = atLoad(1_300)
/** The extra time of a busy machine, in milliseconds. */
const NOISE_MS = 2_500

async function candidate(label: string, throwing = ''): Promise<Child> {
  const child = startChild('test/leader/fixtures/candidate.mjs', {
    args: [rig.server.url, String(LEASE_MS), label, throwing],
  })
  await child.next((message) => message === 'ready')
  return child
}

const leads = (child: Child) =>
  child.next<{ token: number; at: number }>((said) => typeof said === 'object' && 'token' in said)

const said = <T>(child: Child, key: string) =>
  child.next<T>((message) => typeof message === 'object' && message !== null && key in message)

function observer() {
  const election = rig.witness({ leaseMs: LEASE_MS }).getLeaderElection('it')
  const labels: (string | null)[] = []
  election.on('changed', (leader) => labels.push(leader?.label ?? null))
  return { election, labels }
}

test('when a leader is killed, the next candidate leads after the lease, and the restarted process is a new candidate', async () => {
  const { election, labels } = observer()
  await eventually(() => labels.length === 1)
  const [a, b] = await Promise.all([candidate('a'), candidate('b')])
  a.send('lead')
  const first = await leads(a)
  b.send('lead')
  await rig.queued('it', 1)
  a.kill('SIGKILL')
  const following = within(LEASE_MS + NOISE_MS, leads(b))
  // The process restarts at once, within the lease of the process before. It waits behind `b`.
  const restarted = await candidate('a')
  restarted.send('lead')
  const second = await following
  expect(second.token).toBeGreaterThan(first.token)
  await rig.queued('it', 1)
  expect(await election.inspect()).toMatchObject({
    leader: { label: 'b', token: second.token },
    candidates: [{ label: 'a' }],
  })
  b.send('go')
  const third = await leads(restarted)
  expect(third.token).toBeGreaterThan(second.token)
  const leaders = () => labels.filter((label) => label !== null)
  await eventually(() => leaders().length > 2)
  restarted.send('go')
  await eventually(() => labels.at(-1) === null)
  expect(leaders()).toEqual(['a', 'b', 'a'])
})

test('when a leader is killed and no candidate waits, observers see no leader at the end of its lease', async () => {
  const { labels } = observer()
  const a = await candidate('a')
  a.send('lead')
  await leads(a)
  await eventually(() => labels.at(-1) === 'a')
  a.kill('SIGKILL')
  await eventually(() => labels.at(-1) === null, { timeoutMs: LEASE_MS + NOISE_MS })
})

test('a leader that is stopped for three leases has lost its term, and does not harm its successor', async () => {
  const { election, labels } = observer()
  const [a, b] = await Promise.all([candidate('a'), candidate('b')])
  a.send('lead')
  const first = await leads(a)
  b.send('lead')
  await rig.queued('it', 1)
  a.kill('SIGSTOP')
  const stoppedAt = performance.now()
  const second = await leads(b)
  expect(second.token).toBeGreaterThan(first.token)
  await pause(Math.max(0, 3 * LEASE_MS - (performance.now() - stoppedAt)))
  a.kill('SIGCONT')
  expect(await said(a, 'aborted')).toEqual({ aborted: true, valid: false, leads: false })
  const [{ resigned }, ended] = await Promise.all([
    said<{ resigned: boolean }>(a, 'resigned'),
    eventually(() => a.all.find((message) => (message as { led?: boolean }).led !== undefined)),
  ])
  // The code inside the function calls `resign()`. The call must not wait for this function.
  expect(resigned).toBe(false)
  expect(ended).toEqual({ led: false, code: 'HOLDFAST_LEASE_LOST' })
  await never(async () => (await election.leader())?.token !== second.token, 300)
  expect(b.all.some((message) => (message as { led?: boolean }).led !== undefined)).toBe(false)
  b.send('go')
  expect(await said(b, 'led')).toEqual({ led: true })
  await eventually(() => labels.at(-1) === null)
  expect(labels.filter((label) => label !== null)).toEqual(['a', 'b'])
})

test('an error of a listener does not stop the leader, and reaches the program', async () => {
  const a = await candidate('a', 'throwing')
  a.send('lead')
  await leads(a)
  a.send('go')
  expect(await said(a, 'led')).toEqual({ led: true })
  expect(a.all).toContainEqual({ uncaught: 'of a listener' })
  a.send('close')
  await a.next((message) => message === 'closed')
})
