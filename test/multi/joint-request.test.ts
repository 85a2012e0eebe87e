import { setTimeout as pause } from 'node:timers/promises'
import { JointRequest } from '../../src/locks/multi/joint-request.ts'
import type { JointAnswer } from '../../src/servers/answers.ts'
import { CallFailure } from '../../src/servers/call-failure.ts'
import { promised } from '../../src/servers/reply.ts'

const GRANTED = { kind: 'granted', token: 7 } as const

/** A server that gives these answers, and records its requests. */
function serverOf(...answers: (JointAnswer | CallFailure)[]) {
  const asked: { owners: string[]; leaseMs: number; callMs: number }[] = []
  return {
    asked,
    async acquireAll(
      locks: readonly { rawName: string; owner: string }[],
      leaseMs: number,
      callMs: number,
    ) {
      asked.push({ owners: locks.map(({ owner }) => owner), leaseMs, callMs })
      const answer = answers.shift() ?? GRANTED
      if (answer instanceof CallFailure) throw answer
      return answer
    },
  }
}

const names = (count: number) => Array.from({ length: count }, (_, n) => `lock ${n}`)

const ask = (joint: JointRequest, n: number, callMs = 1_000) =>
  promised((reply) =>
    joint.as(n).acquire({ owner: `owner:${n}`, leaseMs: 5_000, reserve: 0, callMs }, reply),
  )

test('a joint request is sent once, when all locks have asked', async () => {
  const server = serverOf()
  const joint = new JointRequest(server, names(3))
  const first = [ask(joint, 2), ask(joint, 0)]
  await pause(5)
  expect(server.asked).toEqual([])
  const grants = await Promise.all([...first, ask(joint, 1, 900)])
  expect(grants).toEqual([GRANTED, GRANTED, GRANTED])
  expect(server.asked).toEqual([
    { owners: ['owner:2', 'owner:0', 'owner:1'], leaseMs: 5_000, callMs: 900 },
  ])
})

test('a joint request is sent for the other lock when the first lock is done', async () => {
  const server = serverOf()
  const joint = new JointRequest(server, names(2))
  const asking = ask(joint, 1)
  joint.done(0, true)
  expect(await asking).toEqual(GRANTED)
  expect(server.asked).toHaveLength(1)
})

test('a joint request reports the busy lock by its number, not by the order of the calls', async () => {
  const joint = new JointRequest(serverOf({ kind: 'held', ttlMs: 5, index: 0 }), names(2))
  await Promise.all([ask(joint, 1), ask(joint, 0)])
  expect(joint.busy).toBe(1)
})

test.each([[0], [1]])(
  'no joint request is sent when one lock gives up and the other lock is %i',
  async (other) => {
    const server = serverOf()
    const joint = new JointRequest(server, names(2))
    const early = other === 0 ? ask(joint, other) : undefined
    joint.done(1 - other, false)
    // The joint request asked no server, so this answer shows nothing about the server.
    expect(await (early ?? ask(joint, other))).toMatchObject({ kind: 'held', unasked: true })
    expect(server.asked).toEqual([])
    expect(joint.busy).toBeUndefined()
  },
)

test('a lock that gives up during the request does not keep the answer from the other lock', async () => {
  const joint = new JointRequest(serverOf(), names(2))
  const asking = [ask(joint, 0), ask(joint, 1)]
  joint.done(0, false)
  expect(await Promise.all(asking)).toEqual([GRANTED, GRANTED])
})

test('a failure is reported to all locks, which may then ask again at different times', async () => {
  const failure = new CallFailure('unknown', 'no answer')
  const server = serverOf(failure)
  const joint = new JointRequest(server, names(2))
  const first = await Promise.allSettled([ask(joint, 0), ask(joint, 1)])
  expect(first.map((one) => one.status === 'rejected' && one.reason)).toEqual([failure, failure])
  const early = ask(joint, 0, 40)
  await pause(60) // longer than the first call may take
  expect(await Promise.all([early, ask(joint, 1, 40)])).toEqual([GRANTED, GRANTED])
  expect(server.asked.map(({ callMs }) => callMs)).toEqual([1_000, 40])
})
