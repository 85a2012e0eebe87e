import { type Child, startChild } from '../children.ts'
import { eventually, never } from '../eventually.ts'

const start = () =>
  startChild('test/support/test/fixtures/echo-child.mjs', { args: ['a'], env: { GREETING: 'hi' } })
const echoOf = (text: string) => (message: object) => 'echo' in message && message.echo === text

let previous: Child | undefined

test('a child gets arguments and environment variables, and exchanges lines of JSON', async () => {
  const child = start()
  previous = child
  expect(await child.next()).toEqual({ ready: 'hi', args: ['a'] })
  child.send('one')
  child.send('two')
  expect(await child.next(echoOf('two'))).toEqual({ echo: 'two' })
  expect(child.all).toContainEqual({ echo: 'one' })
})

test('a child is ended with the test that started it', async () => {
  expect(previous?.running).toBe(false)
  expect(await previous?.exited).toEqual({ code: null, signal: 'SIGKILL' })
})

test('a child can be stopped and continued', async () => {
  const child = start()
  await child.next()
  child.kill('SIGSTOP')
  await eventually(() => isSilentFor(child, 30))
  const { length } = child.all
  child.send('frozen')
  await never(() => child.all.length > length, 30)
  child.kill('SIGCONT')
  await child.next(echoOf('frozen'))
})

test('the exit code of a child is known, and a wait for a message ends with the child', async () => {
  const child = start()
  await child.next()
  const message = child.next(echoOf('never'))
  child.send('exit')
  await expect(message).rejects.toThrow(/ended before/)
  expect(await child.exited).toEqual({ code: 7, signal: null })
})

test('the error has what the child printed to stderr', async () => {
  const child = start()
  child.send('fail')
  await expect(child.next(echoOf('never'))).rejects.toThrow(/told to fail/)
})

async function isSilentFor(child: Child, ms: number): Promise<boolean> {
  const { length } = child.all
  await new Promise((resolve) => setTimeout(resolve, ms))
  return child.all.length === length
}
