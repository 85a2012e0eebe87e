import { CallFailure } from '../../src/servers/call-failure.ts'
import { failureOf, isWrongServer } from '../../src/servers/redis/connection/failure-of.ts'

const OOM = "-OOM command not allowed when used memory > 'maxmemory'."
const READONLY = "-READONLY You can't write against a read only replica."

/** Returns the failure for an error reply of the server, which ioredis turns into an error. */
function failureFor(reply: string): CallFailure {
  const error = new Error(reply)
  error.name = 'ReplyError'
  return failureOf(error)
}

/**
 * Redis 6.2 reports a refused command of a script in its own format. The script `batch` returns this text unchanged.
 */
describe('an error of Redis 6.2 inside a script', () => {
  test.each([OOM, READONLY])('the refusal is temporary: %s', (words) => {
    const bare = `@user_script: 47: ${words}`
    const wrapped = `ERR Error running script (call to f_3a): @user_script:47: ${bare}`
    for (const reply of [bare, wrapped, words.slice(1)]) {
      expect(failureFor(reply)).toMatchObject({ kind: 'refused', permanent: false })
    }
  })

  test('a READONLY error shows that the server is the wrong server', () => {
    const bare = `@user_script: 47: ${READONLY}`
    const wrapped = `ERR Error running script (call to f_3a): @user_script:47: ${bare}`
    for (const reply of [bare, wrapped, READONLY.slice(1)]) {
      expect(isWrongServer(failureFor(reply))).toBe(true)
    }
    expect(isWrongServer(failureFor(OOM.slice(1)))).toBe(false)
    expect(isWrongServer(new CallFailure('unsent', READONLY.slice(1)))).toBe(false)
  })

  test('any other error is permanent', () => {
    const wrongType = 'WRONGTYPE Operation against a key holding the wrong kind of value'
    const wrapped = `ERR Error running script (call to f_3a): @user_script:12: ${wrongType}`
    for (const reply of [wrapped, wrongType, 'NOPERM no permission', '']) {
      expect(failureFor(reply)).toMatchObject({ kind: 'refused', permanent: true })
    }
  })
})

/** A cluster client tries 16 times. Then its error contains the last answer in its own words. */
describe('an error of a cluster after too many redirections', () => {
  const tooMany = (last: string) =>
    failureOf(new Error(`Too many Cluster redirections. Last error: ${last}`))

  test.each([
    'CLUSTERDOWN Hash slot not served',
    'TRYAGAIN Multiple keys request',
    'MOVED 1 h:1',
    'ASK 1 h:1',
  ])('the last answer of the cluster is a temporary refusal: %s', (reply) => {
    const failure = tooMany(`ReplyError: ${reply}`)
    expect(failure).toMatchObject({ kind: 'refused', permanent: false, message: reply })
  })

  test('the outcome is unknown if a connection broke', () => {
    expect(tooMany('Error: Connection is closed.')).toMatchObject({ kind: 'unknown' })
  })
})
