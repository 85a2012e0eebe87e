import { setTimeout as pause } from 'node:timers/promises'
import type { AcquireAnswer, Released } from '../../src/servers/answers.ts'
import { CallFailure } from '../../src/servers/call-failure.ts'
import { Attempts } from '../../src/servers/quorum/master/attempts.ts'
import { lockKeys } from '../../src/servers/redis/calls/keys.ts'
import { promised, replyWith } from '../../src/servers/reply.ts'
import { deferred } from '../support/deferred.ts'
import { eventually } from '../support/eventually.ts'

interface Facts {
  everUp: boolean
  lateAtMostMs: number
  whyDown?: CallFailure
}

/** The release of the whole hold of an owner. */
const ending = (owner: string) => ({ owner, holds: 0, token: '' as const, callMs: 50 })

/** Returns attempts at a master. The test decides how this master answers. */
function attemptsOn(
  release: () => Promise<Released>,
  facts: Facts = { everUp: true, lateAtMostMs: 0 },
) {
  const server = Object.assign(facts, { whyDown: facts.whyDown, onUp: () => () => {} })
  const attempts = new Attempts(server, (_keys, _ending, reply) => replyWith(release(), reply), {
    callMs: 100,
    restMs: 10_000,
  })
  const track = (
    owner: string,
    callMs: number,
    send: (onSend: () => void) => Promise<AcquireAnswer>,
  ) =>
    promised<AcquireAnswer>((reply) => {
      const request = attempts.track(owner, callMs, reply)
      replyWith(
        send(() => request.sent()),
        request,
      )
    })
  const lower = (owner: string) =>
    promised<Released>((reply) => attempts.lower(lockKeys('it'), ending(owner), reply))
  return { attempts, track, lower }
}

test('a name with two requests is remembered while one of them may have acquired the lock', async () => {
  let releases = 0
  const { attempts, track, lower } = attemptsOn(async () => {
    releases += 1
    if (releases === 1) throw new CallFailure('unknown', 'no answer')
    return { kind: 'freed', others: 0 }
  })
  const [first, second] = [deferred<AcquireAnswer>(), deferred<AcquireAnswer>()]
  const asked = [first, second].map(({ promise }) =>
    track('c:1', 10, (onSend) => {
      onSend()
      return promise
    }),
  )
  first.resolve({ kind: 'held', ttlMs: 5 })
  await asked[0]
  second.resolve({ kind: 'granted', token: 1 })
  await asked[1]
  await expect(lower('c:1')).rejects.toThrow('no answer')
  attempts.abandon(lockKeys('it'), 'c:1')
  await eventually(() => releases === 2, { message: 'the release to be told again' })
  await attempts.quiet()
  attempts.stopReleases()
})

test('a name that is abandoned during its request is released when that request is too late to run', async () => {
  let releasedAt = 0
  const { attempts, track } = attemptsOn(async () => {
    releasedAt = performance.now()
    return { kind: 'freed', others: 0 }
  })
  const breaks = deferred<void>()
  const broken = breaks.promise.then((): AcquireAnswer => {
    throw new CallFailure('unknown', 'the connection broke before the answer')
  })
  const lateAt = performance.now() + 400
  const asked = track('c:1', 400, (onSend) => {
    onSend()
    return broken
  })
  attempts.abandon(lockKeys('it'), 'c:1')
  await pause(150)
  breaks.resolve()
  await expect(asked).rejects.toThrow('the connection broke')
  await eventually(() => releasedAt >= lateAt, { message: 'a release after it' })
  await attempts.quiet()
  attempts.stopReleases()
})

test('a name that is released while its request may still arrive is released again after that request', async () => {
  const releasedAt: number[] = []
  const { attempts, track, lower } = attemptsOn(async () => {
    releasedAt.push(performance.now())
    return { kind: 'freed', others: 0 }
  })
  const lateAt = performance.now() + 1_500
  const asked = track('c:1', 1_500, async (onSend) => {
    onSend()
    throw new CallFailure('unknown', 'no answer')
  })
  await expect(asked).rejects.toThrow('no answer')
  await lower('c:1')
  const last = () => releasedAt.at(-1) ?? 0
  await eventually(() => last() >= lateAt, { message: 'a release behind it', timeoutMs: 8_000 })
  expect(releasedAt[0]).toBeLessThan(last())
  await attempts.quiet()
  attempts.stopReleases()
})

test('a release is sent again if an acquisition of the same name was sent after it', async () => {
  let releases = 0
  const { attempts, track, lower } = attemptsOn(async () => {
    releases += 1
    return { kind: 'freed', others: 0 }
  })
  const vote = deferred<AcquireAnswer>()
  let sendVote = () => {}
  const asked = track('c:1', 5_000, (onSend) => {
    sendVote = onSend
    return vote.promise
  })
  const releasing = lower('c:1')
  sendVote()
  vote.resolve({ kind: 'granted', token: 1 })
  await asked
  await releasing
  expect(releases).toBe(2)
  await attempts.quiet()
  attempts.stopReleases()
})

test('a release at a master that is down fails, but only after the call has returned', async () => {
  const down = { everUp: true, lateAtMostMs: 0, whyDown: new CallFailure('unsent', 'it is down') }
  const { attempts } = attemptsOn(() => Promise.resolve(freed), down)
  const failed = jest.fn()
  attempts.lower(lockKeys('it'), ending('c:1'), { answered: () => {}, failed })
  expect(failed).not.toHaveBeenCalled()
  await eventually(() => failed.mock.calls.length === 1)
  expect(failed).toHaveBeenCalledWith(down.whyDown)
})

test.each([
  ['after the connection was made', 500, 0],
  ['to a server that turns out to be far away', 50, 400],
])(
  'a request that was sent %s is in doubt for as long as it may run',
  async (_, connectMs, lateMs) => {
    let releasedAt = 0
    const server = { everUp: false, lateAtMostMs: 0 }
    const { attempts, track, lower } = attemptsOn(async () => {
      releasedAt = performance.now()
      return { kind: 'freed', others: 0 }
    }, server)
    let lateAt = Infinity
    const asked = track('c:1', 200, async (onSend) => {
      await pause(connectMs)
      Object.assign(server, { everUp: true, lateAtMostMs: lateMs })
      onSend()
      lateAt = performance.now() + 200 + lateMs
      throw new CallFailure('unknown', 'the connection broke before the answer')
    })
    await expect(asked).rejects.toThrow('the connection broke')
    await lower('c:1')
    await eventually(() => releasedAt >= lateAt, {
      message: 'a release after it',
      timeoutMs: 3_000,
    })
    await attempts.quiet()
    attempts.stopReleases()
  },
)

/** Returns attempts at a master that has granted the lock to `c:1`. The test decides its answers to releases. */
async function grantedTo(answers: readonly Promise<Released>[]) {
  const asked: number[] = []
  const { attempts, track, lower } = attemptsOn(() => {
    asked.push(performance.now())
    return answers[asked.length - 1] as Promise<Released>
  })
  await track('c:1', 10, async (onSend): Promise<AcquireAnswer> => {
    onSend()
    return { kind: 'granted', token: 1 }
  })
  return { attempts, lower, asked }
}

const freed: Released = { kind: 'freed', others: 0 }

test('a release that was not confirmed is left to its caller until the name is abandoned', async () => {
  const lost = Promise.reject(new CallFailure('unknown', 'no answer'))
  const { attempts, lower, asked } = await grantedTo([lost, Promise.resolve(freed)])
  await expect(lower('c:1')).rejects.toThrow('no answer')
  await pause(200)
  expect(asked).toHaveLength(1)
  attempts.abandon(lockKeys('it'), 'c:1')
  attempts.abandon(lockKeys('it'), 'c:1')
  expect(asked).toHaveLength(2)
  await attempts.quiet()
  attempts.stopReleases()
})

test.each(['is confirmed', 'fails'])(
  'a name that is abandoned during its release waits for that release, which %s',
  async (how) => {
    const first = deferred<Released>()
    const answer =
      how === 'fails'
        ? first.promise.then(() => Promise.reject(new CallFailure('unknown', 'no answer')))
        : first.promise
    const { attempts, lower, asked } = await grantedTo([answer, Promise.resolve(freed)])
    const releasing = lower('c:1').catch(() => {})
    attempts.abandon(lockKeys('it'), 'c:1')
    expect(asked).toHaveLength(1)
    first.resolve(freed)
    await releasing
    await attempts.quiet()
    expect(asked).toHaveLength(how === 'fails' ? 2 : 1)
    attempts.stopReleases()
  },
)
