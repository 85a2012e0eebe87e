import { CallFailure } from '../../src/servers/call-failure.ts'

const OOM = "-OOM command not allowed when used memory > 'maxmemory'."
const READONLY = "-READONLY You can't write against a read only replica."

/** Redis 6.2 tells of a refused command of a script in its own way, and `many` passes it on bare. */
describe('what Redis 6.2 refuses inside a script', () => {
  test.each([OOM, READONLY])('passes by itself as elsewhere: %s', (words) => {
    const bare = `@user_script: 47: ${words}`
    const wrapped = `ERR Error running script (call to f_3a): @user_script:47: ${bare}`
    for (const message of [bare, wrapped, words.slice(1)]) {
      expect(new CallFailure('refused', message).permanent).toBe(false)
    }
  })

  test('tells also that the server is the wrong one', () => {
    const bare = `@user_script: 47: ${READONLY}`
    const wrapped = `ERR Error running script (call to f_3a): @user_script:47: ${bare}`
    for (const message of [bare, wrapped, READONLY.slice(1)]) {
      expect(new CallFailure('refused', message).isOfServer).toBe(true)
    }
    expect(new CallFailure('refused', OOM.slice(1)).isOfServer).toBe(false)
    expect(new CallFailure('unsent', READONLY.slice(1)).isOfServer).toBe(false)
  })

  test('is else for somebody to change', () => {
    const wrongType = 'WRONGTYPE Operation against a key holding the wrong kind of value'
    const wrapped = `ERR Error running script (call to f_3a): @user_script:12: ${wrongType}`
    for (const message of [wrapped, wrongType, 'NOPERM no permission', '']) {
      expect(new CallFailure('refused', message).permanent).toBe(true)
    }
  })
})
