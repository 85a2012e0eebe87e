import { setTimeout as pause } from 'node:timers/promises'
import type { Grant, Released } from '../../src/servers/answers.ts'
import { CallFailure } from '../../src/servers/call-failure.ts'
import { Attempts } from '../../src/servers/quorum/attempts.ts'
import { lockKeys } from '../../src/servers/redis/keys.ts'
import type { RedisServer } from '../../src/servers/redis/redis-server.ts'
import { deferred } from '../support/deferred.ts'
import { eventually } from '../support/eventually.ts'

/** The claims on a master that answers as it is told to. */
function claimsOn(release: () => Promise<Released>, facts = { everUp: true, lateAtMostMs: 0 }) {
  const node = Object.assign(facts, { whyDown: undefined, onUp: () => () => {}, release })
  return new Attempts(node as unknown as RedisServer, 100, 10_000)
}

test('a name that is asked for twice is remembered while one of both may have the lock', async () => {
  let releases = 0
  const claims = claimsOn(async () => {
    releases += 1
    if (releases === 1) throw new CallFailure('unknown', 'no answer')
    return { kind: 'freed', listeners: 0 }
  })
  const [first, second] = [deferred<Grant>(), deferred<Grant>()]
  const asked = [first, second].map(({ promise }) =>
    claims.ask('c:1', 10, (onSend) => {
      onSend()
      return promise
    }),
  )
  first.resolve({ kind: 'held', ttlMs: 5 })
  await asked[0]
  second.resolve({ kind: 'granted', token: 1 })
  await asked[1]
  await expect(claims.release(lockKeys('it'), 'c:1', 0, 50)).rejects.toThrow('no answer')
  await eventually(() => releases === 2, { message: 'the release to be told again' })
  await claims.quiet()
  claims.close()
})

test('a name that is over while it is asked for is released once more when that request is too late', async () => {
  let releasedAt = 0
  const claims = claimsOn(async () => {
    releasedAt = performance.now()
    return { kind: 'freed', listeners: 0 }
  })
  const breaks = deferred<void>()
  const broken = breaks.promise.then((): Grant => {
    throw new CallFailure('unknown', 'the connection broke before the answer')
  })
  const lateAt = performance.now() + 400
  const asked = claims.ask('c:1', 400, (onSend) => {
    onSend()
    return broken
  })
  claims.abandon(lockKeys('it'), 'c:1')
  await pause(150)
  breaks.resolve()
  await expect(asked).rejects.toThrow('the connection broke')
  await eventually(() => releasedAt >= lateAt, { message: 'a release after it' })
  await claims.quiet()
  claims.close()
})

test('a name that is released while a request in it may yet come is released once more behind that', async () => {
  const releasedAt: number[] = []
  const claims = claimsOn(async () => {
    releasedAt.push(performance.now())
    return { kind: 'freed', listeners: 0 }
  })
  const lateAt = performance.now() + 1_500
  const asked = claims.ask('c:1', 1_500, async (onSend) => {
    onSend()
    throw new CallFailure('unknown', 'no answer')
  })
  await expect(asked).rejects.toThrow('no answer')
  await claims.release(lockKeys('it'), 'c:1', 0, 50)
  const last = () => releasedAt.at(-1) ?? 0
  await eventually(() => last() >= lateAt, { message: 'a release behind it', timeoutMs: 8_000 })
  expect(releasedAt[0]).toBeLessThan(last())
  await claims.quiet()
  claims.close()
})

test.each([
  ['after it could be connected', 500, 0],
  ['where the server is found far away', 50, 400],
])(
  'a request that was sent %s is in doubt for as long as it may run',
  async (_, connectMs, lateMs) => {
    let releasedAt = 0
    const node = { everUp: false, lateAtMostMs: 0 }
    const claims = claimsOn(async () => {
      releasedAt = performance.now()
      return { kind: 'freed', listeners: 0 }
    }, node)
    let lateAt = Infinity
    const asked = claims.ask('c:1', 200, async (onSend) => {
      await pause(connectMs)
      Object.assign(node, { everUp: true, lateAtMostMs: lateMs })
      onSend()
      lateAt = performance.now() + 200 + lateMs
      throw new CallFailure('unknown', 'the connection broke before the answer')
    })
    await expect(asked).rejects.toThrow('the connection broke')
    await claims.release(lockKeys('it'), 'c:1', 0, 50)
    await eventually(() => releasedAt >= lateAt, {
      message: 'a release after it',
      timeoutMs: 3_000,
    })
    await claims.quiet()
    claims.close()
  },
)
