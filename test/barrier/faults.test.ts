import { setTimeout as pause } from 'node:timers/promises'
import { type CyclicBarrier, type HoldfastOptions, LeaseLostError } from '../../src/index.ts'
import { scaledMs } from '../support/at-load.ts'
import { eventually, never } from '../support/eventually.ts'
import { faultRig, within } from '../support/fault-rig.ts'
import { type Fault, faults } from '../support/request-faults.ts'
import * as scripts from '../support/scripts.ts'

const rig = faultRig()

beforeEach(async () => {
  for (const { source } of [scripts.arrive, scripts.leaveBarrier, scripts.inspectBarrier]) {
    await rig.server.admin.script('LOAD', source)
  }
})

/** With this limit, the client soon gives up a request that the proxy holds back. */
const HASTY = { commandTimeoutMs: scaledMs(100) }

/** The client repeats no request and renews no arrival, however slow the machine is. */
const PATIENT = { commandTimeoutMs: 60_000, outageMs: 120_000, leaseMs: 3_600_000 }

/** Longer than the pause between two checks of a client whose subscription is not confirmed. */
const POLL_MS = 300

function pair(name: string, options: Omit<HoldfastOptions, 'redis'> = {}) {
  const mine = rig.client(options).getCyclicBarrier(name)
  return { mine, theirs: rig.witness().getCyclicBarrier(name) }
}

const arrived = (barrier: CyclicBarrier, count: number) =>
  eventually(async () => (await barrier.inspect()).arrived === count, {
    message: `${count} arrivals`,
  })

const listening = (name: string) =>
  eventually(async () => {
    const [, count] = (await rig.server.admin.pubsub('NUMSUB', `holdfast_rounds:{${name}}`)) as [
      string,
      number,
    ]
    return Number(count) > 0
  })

describe.each(faults)('when $fault', ({ fault, action, releases }: Fault) => {
  test('an arrival counts once, in one round only', async () => {
    const { mine, theirs } = pair(`arrive: ${fault}`, HASTY)
    await mine.inspect()
    const trap = rig.proxy.onNextRequest(scripts.arrive.sha1, action)
    const waiting = mine.await({ parties: 3 })
    await trap.seen
    if (releases === 'while held') setTimeout(() => trap.release(), 300)
    await arrived(theirs, 1)
    const others = [theirs.await({ parties: 3 }), theirs.await({ parties: 3 })]
    expect(await within(4_000, Promise.all([waiting, ...others]))).toEqual([true, true, true])
    trap.release()
    await trap.done
    // No copy of the request counts in the next round.
    await never(async () => (await theirs.inspect()).arrived > 0, 150)
  })

  test('the last arrival ends the round once', async () => {
    const { mine, theirs } = pair(`last: ${fault}`, HASTY)
    await mine.inspect()
    const waiting = theirs.await({ parties: 2 })
    await arrived(theirs, 1)
    const trap = rig.proxy.onNextRequest(scripts.arrive.sha1, action)
    const last = mine.await({ parties: 2 })
    await trap.seen
    if (releases === 'while held') setTimeout(() => trap.release(), 300)
    expect(await within(4_000, Promise.all([waiting, last]))).toEqual([true, true])
    trap.release()
    await trap.done
    await never(async () => (await theirs.inspect()).arrived > 0, 150)
  })

  test('a party leaves once, and the next arrival of the client counts', async () => {
    const { mine, theirs } = pair(`leave: ${fault}`, HASTY)
    await mine.inspect()
    const trap = rig.proxy.onNextRequest(scripts.leaveBarrier.sha1, action)
    const waiting = mine.await({ parties: 2, waitMs: 100 })
    await trap.seen
    if (releases === 'while held') setTimeout(() => trap.release(), 300)
    expect(await within(4_000, waiting)).toBe(false)
    await arrived(theirs, 0)
    const next = mine.await({ parties: 2 })
    await arrived(theirs, 1)
    trap.release()
    await trap.done
    await never(async () => (await theirs.inspect()).arrived !== 1, 150)
    expect(await within(4_000, theirs.await({ parties: 2 }))).toBe(true)
    expect(await within(4_000, next)).toBe(true)
  })
})

test('a party whose connection for messages is cut does not miss the end of its round', async () => {
  const { mine, theirs } = pair('cut')
  const waiting = mine.await({ parties: 2 })
  await listening('cut')
  const refused = rig.proxy.blackHole({ only: 'subscriber' })
  expect(await within(2_000, theirs.await({ parties: 2 }))).toBe(true)
  rig.proxy.cut('subscriber')
  refused.heal()
  expect(await within(3_000, waiting)).toBe(true)
})

test('the message alone ends the wait: the party sends no request for it', async () => {
  const { mine, theirs } = pair('message', PATIENT)
  const arrivals = () => rig.proxy.count(scripts.arrive.sha1)
  const waiting = mine.await({ parties: 2 })
  await listening('message')
  await eventually(() => arrivals() >= 2, { message: 'the check after the subscription' })
  // A slow machine confirms the subscription only after further checks.
  await pause(POLL_MS)
  await arrived(theirs, 1)
  const checks = arrivals()
  await pause(POLL_MS)
  const silence = rig.proxy.blackHole({ only: 'commands' })
  expect(await theirs.await({ parties: 2 })).toBe(true)
  expect(await within(2_000, waiting)).toBe(true)
  expect(arrivals()).toBe(checks)
  expect(rig.proxy.count(scripts.leaveBarrier.sha1)).toBe(0)
  silence.heal()
})

test('the last party needs one request', async () => {
  const { mine, theirs } = pair('one request', PATIENT)
  await mine.inspect()
  const waiting = theirs.await({ parties: 2 })
  await arrived(theirs, 1)
  expect(await mine.await({ parties: 2 })).toBe(true)
  expect(rig.proxy.count(scripts.arrive.sha1)).toBe(1)
  expect(await waiting).toBe(true)
})

test('a party that dies leaves when its lease ends, and another party takes its place', async () => {
  const { mine, theirs } = pair('dies', { leaseMs: 900 })
  const dead = mine.await({ parties: 2 })
  dead.catch(() => undefined)
  await arrived(theirs, 1)
  // For the server, a client that sends nothing is dead.
  const silence = rig.proxy.blackHole()
  await eventually(async () => (await theirs.inspect()).arrived === 0, { message: 'it to leave' })
  const [one, two] = [theirs.await({ parties: 2 }), theirs.await({ parties: 2 })]
  expect(await within(2_000, Promise.all([one, two]))).toEqual([true, true])
  rig.proxy.cut()
  silence.heal()
  // It comes back after its round, so it was not counted, and counts in no later round.
  await expect(within(10_000, dead)).rejects.toThrow(LeaseLostError)
  expect(await theirs.inspect()).toMatchObject({ arrived: 0 })
})

test('a party that was away for longer than its lease, but not for its round, counts again', async () => {
  const { mine, theirs } = pair('away', { leaseMs: 900 })
  const other = theirs.await({ parties: 3 })
  await arrived(theirs, 1)
  const away = mine.await({ parties: 3 })
  await arrived(theirs, 2)
  const silence = rig.proxy.blackHole()
  await arrived(theirs, 1)
  rig.proxy.cut()
  silence.heal()
  await arrived(theirs, 2)
  expect(await within(2_000, theirs.await({ parties: 3 }))).toBe(true)
  expect(await within(2_000, Promise.all([other, away]))).toEqual([true, true])
})

test('a replica, which may lag behind, gives no answer to an arrival, a renewal or a request to leave', async () => {
  const { admin } = rig.server
  const keys = ['it', 'holdfast_barrier:{it}', 'holdfast_settled:{it}']
  const { arrive, leaveBarrier: leave } = scripts
  const arriving = (id: string, round: string) =>
    admin.eval(arrive.source, 3, ...keys, id, 1, 1_000, round, 0, 'c', 'PUBLISH')
  expect(await arriving('a', '')).toEqual(['passed'])
  await admin.replicaof('127.0.0.1', '1')
  try {
    for (const [id, round] of [
      ['a', ''],
      ['b', ''],
      ['b', '17'],
    ] as const) {
      await expect(arriving(id, round)).rejects.toThrow(/READONLY/)
    }
    const leaving = admin.eval(leave.source, 2, 'it', 'holdfast_settled:{it}', 'a')
    await expect(leaving).rejects.toThrow(/READONLY/)
  } finally {
    await admin.replicaof('NO', 'ONE')
  }
})
