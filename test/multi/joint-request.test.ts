import { setTimeout as pause } from 'node:timers/promises'
import { JointRequest } from '../../src/locks/multi/joint-request.ts'
import { CallFailure } from '../../src/servers/call-failure.ts'
import type { GrantOfAll, Named } from '../../src/servers/redis/acquire-all.ts'
import { lockKeys } from '../../src/servers/redis/keys.ts'

const GRANTED = { kind: 'granted', token: 7 } as const

/** A node that answers as it is told, and remembers what it was asked. */
function nodeOf(...answers: (GrantOfAll | CallFailure)[]) {
  const asked: { owners: string[]; leaseMs: number; timeoutMs: number }[] = []
  return {
    asked,
    async acquireAll(seats: readonly Named[], leaseMs: number, timeoutMs: number) {
      asked.push({ owners: seats.map(({ owner }) => owner), leaseMs, timeoutMs })
      const answer = answers.shift() ?? GRANTED
      if (answer instanceof CallFailure) throw answer
      return answer
    },
  }
}

const ask = (together: JointRequest, n: number, timeoutMs = 1_000) =>
  together.as(n).acquire(lockKeys(`lock ${n}`), `owner:${n}`, 5_000, 1, timeoutMs)

test('is sent once, when all have asked', async () => {
  const node = nodeOf()
  const together = new JointRequest(node, 3)
  const first = [ask(together, 2), ask(together, 0)]
  await pause(5)
  expect(node.asked).toEqual([])
  const grants = await Promise.all([...first, ask(together, 1, 900)])
  expect(grants).toEqual([GRANTED, GRANTED, GRANTED])
  expect(node.asked).toEqual([
    { owners: ['owner:2', 'owner:0', 'owner:1'], leaseMs: 5_000, timeoutMs: 900 },
  ])
})

test('is sent for the others when one has its lock', async () => {
  const node = nodeOf()
  const together = new JointRequest(node, 2)
  const asking = ask(together, 1)
  together.done(0, true)
  expect(await asking).toEqual(GRANTED)
  expect(node.asked).toHaveLength(1)
})

test('tells which is busy, by its number and not by when it asked', async () => {
  const together = new JointRequest(nodeOf({ kind: 'held', ttlMs: 5, index: 0 }), 2)
  await Promise.all([ask(together, 1), ask(together, 0)])
  expect(together.busy).toBe(1)
})

test.each([[0], [1]])('is not sent when one gives up, of whom the other is %i', async (other) => {
  const node = nodeOf()
  const together = new JointRequest(node, 2)
  const early = other === 0 ? ask(together, other) : undefined
  together.done(1 - other, false)
  // Nobody was asked: it says nothing of how the server does.
  expect(await (early ?? ask(together, other))).toMatchObject({ kind: 'held', unasked: true })
  expect(node.asked).toEqual([])
  expect(together.busy).toBeUndefined()
})

test('one who gave up while it was under way does not keep the answer from the others', async () => {
  const together = new JointRequest(nodeOf(), 2)
  const asking = [ask(together, 0), ask(together, 1)]
  together.done(0, false)
  expect(await Promise.all(asking)).toEqual([GRANTED, GRANTED])
})

test('a failure is told to all, who may ask again at different times', async () => {
  const failure = new CallFailure('unknown', 'no answer')
  const node = nodeOf(failure)
  const together = new JointRequest(node, 2)
  const first = await Promise.allSettled([ask(together, 0), ask(together, 1)])
  expect(first.map((one) => one.status === 'rejected' && one.reason)).toEqual([failure, failure])
  const early = ask(together, 0, 40)
  await pause(60) // for longer than the first may take
  expect(await Promise.all([early, ask(together, 1, 40)])).toEqual([GRANTED, GRANTED])
  expect(node.asked.map(({ timeoutMs }) => timeoutMs)).toEqual([1_000, 40])
})
