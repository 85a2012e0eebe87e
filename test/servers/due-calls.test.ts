import { DueCall, DueCalls } from '../../src/servers/availability/due-calls.ts'
import { Trouble } from '../../src/servers/availability/trouble.ts'
import type { CallFailure } from '../../src/servers/call-failure.ts'
import { failureOf } from '../../src/servers/redis/connection/failure-of.ts'
import type { RedisClient } from '../../src/servers/redis/connection/open-client.ts'
import { deferred } from '../support/deferred.ts'
import { eventually } from '../support/eventually.ts'

const SILENCE_MS = 60

const EVENTS = { up: () => {}, down: () => {}, error: () => {} }
const HOST = {
  trouble: new Trouble(EVENTS, SILENCE_MS, () => {}),
  suspect: () => {},
  refused: () => {},
}

/** A call whose answer the test gives. */
class CallByHand extends DueCall<RedisClient> {
  readonly answer = deferred<unknown>()
  readonly answers: unknown[] = []
  readonly failures: CallFailure[] = []

  send(): Promise<unknown> {
    return this.answer.promise
  }

  answered(reply: unknown): void {
    this.answers.push(reply)
  }

  failed(failure: CallFailure): void {
    this.failures.push(failure)
  }
}

test('a server that answers one call and then hangs counts as silent for the other calls', async () => {
  const client = {} as RedisClient
  const silences: number[] = []
  const due = new DueCalls(
    SILENCE_MS,
    { ...HOST, suspect: () => silences.push(due.silentMs) },
    failureOf,
  )
  const [first, second] = [new CallByHand(), new CallByHand()]
  due.send(client, first, SILENCE_MS)
  due.send(client, second, SILENCE_MS)
  first.answer.resolve('here')
  await eventually(() => first.answers.length === 1)
  await eventually(() => second.failures.length === 1)
  await eventually(() => silences.some((ms) => ms >= SILENCE_MS))
  due.forget()
})

test('an answer that comes after its call was given up is ignored', async () => {
  const due = new DueCalls(10_000, HOST, failureOf)
  const call = new CallByHand()
  due.send({} as RedisClient, call, 20)
  await eventually(() => call.failures.length === 1)
  expect(due.any).toBe(true)
  call.answer.resolve('too late')
  await eventually(() => !due.any)
  expect(call.answers).toEqual([])
  due.forget()
})
