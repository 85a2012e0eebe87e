import { CallFailure, NoAnswer } from '../../src/servers/call-failure.ts'
import { NameConflict } from '../../src/servers/name-conflict.ts'
import { Majority } from '../../src/servers/quorum/majority.ts'
import { LateVote, RestingMaster } from '../../src/servers/quorum/master/no-vote.ts'
import { MASTERS_WORDS } from '../../src/servers/quorum/masters-words.ts'
import {
  connectionFailure,
  failureOf,
  refusal,
  unsent,
} from '../../src/servers/redis/connection/failure-of.ts'
import { REDIS_WORDS } from '../../src/servers/redis/connection/redis-words.ts'

const IN_SCRIPT = 'ERR Error running script (call to f_3a): @user_script:12: '

test.each([
  ["OOM command not allowed when used memory > 'maxmemory'.", 'raise maxmemory'],
  [`${IN_SCRIPT}@user_script: 12: -OOM command not allowed`, 'raise maxmemory'],
  ['@user_script: 12: -OOM command not allowed', 'raise maxmemory'],
  [`${IN_SCRIPT}WRONGTYPE Operation against a key`, 'use another name'],
  ['WRONGTYPE a latch has this name', 'use another name'],
  ["NOPERM this user has no permissions to run the 'x' command", 'missing rights'],
  [`${IN_SCRIPT}The user executing the script can't run this command`, 'missing rights'],
  ["ERR unknown command 'EVALSHA', with args beginning with:", 'Is it a Sentinel'],
  ['MOVED 1 127.0.0.1:7000', 'Another node of a cluster'],
])('the code of the error %p decides the advice', (reply, advice) => {
  expect(REDIS_WORDS.stepAfter(refusal(reply))).toContain(advice)
})

test.each(['ERR a key named OOM is odd', '', 'BUSY Redis is busy'])(
  'no advice follows the error %p',
  (reply) => {
    expect(REDIS_WORDS.stepAfter(refusal(reply))).toBe('')
  },
)

test('a failure that is no error of the server has no advice, whatever its message is', () => {
  expect(REDIS_WORDS.stepAfter(new CallFailure('unsent', 'OOM command not allowed'))).toBe('')
})

test('a used name is a conflict, and any other WRONGTYPE is not', () => {
  expect(refusal('WRONGTYPE a latch has this name')).toMatchObject({
    words: 'a latch has this name',
    message: 'WRONGTYPE a latch has this name',
    permanent: true,
  })
  expect(refusal('WRONGTYPE Operation against a key')).not.toBeInstanceOf(NameConflict)
  expect(refusal('ERR a latch has this name')).not.toBeInstanceOf(NameConflict)
})

describe('the advice for a missing majority', () => {
  const adviceFor = (...failures: CallFailure[]) => {
    const votes = failures.map((answer, n) => {
      const server = { whyDown: undefined }
      return { member: { label: `m${n}:1`, server }, answer }
    })
    return MASTERS_WORDS.stepOfMasters?.(new Majority(3).failure(votes, false))
  }

  test.each<[string, CallFailure, RegExp]>([
    ['rests', new RestingMaster(500), /may have lost leases/],
    ['had no time', new LateVote(), /repeat the call/],
    ['gives no answer', new NoAnswer('unknown', 'no answer within 50 ms'), /hangs or is slow/],
    [
      'gave no answer to the greeting',
      unsent(new NoAnswer('unknown', 'no answer within 50 ms')),
      /hangs or is slow/,
    ],
    ['is down', failureOf(new Error('Connection is closed.')), /start it/],
    [
      'has Sentinels that are down',
      connectionFailure(new Error('All sentinels are unreachable. connect ECONNREFUSED ::1:1')),
      /start it/,
    ],
    ['is full', refusal('OOM command not allowed'), /raise maxmemory/],
  ])('names the cause of a master that %s, and no other cause', (_, failure, advice) => {
    const words = adviceFor(failure) ?? ''
    expect(words).toMatch(advice)
    expect(words.replace(/ More: .*/, '')).not.toMatch(/Split votes/)
    expect(adviceFor(new CallFailure('unsent', failure.message))).toMatch(/^More: /)
  })

  test('split votes have their own advice', () => {
    expect(adviceFor()).toMatch(/^Split votes/)
  })

  test('each cause is named, and the errors of servers come last', () => {
    const words = adviceFor(refusal('OOM full'), new RestingMaster(500), refusal('NOAUTH no login'))
    expect(words).toMatch(/may have lost leases.*Give a username.*More:/)
  })

  test('another failure has no advice about masters', () => {
    expect(MASTERS_WORDS.stepOfMasters?.(new CallFailure('unsent', 'no majority of 3'))).toBe(
      undefined,
    )
  })
})
