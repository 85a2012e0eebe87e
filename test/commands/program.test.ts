import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { startProgram } from '../support/children.ts'
import { eventually } from '../support/eventually.ts'
import { newSetting } from './setting.ts'

const { server, newClient } = newSetting()
const main = resolve(__dirname, '../../dist/esm/tools/cli/main.js')

beforeAll(() => {
  if (!existsSync(main)) throw new Error('npm run build makes the program that is tested here.')
})

const start = (...args: string[]) =>
  startProgram(process.execPath, {
    args: [main, ...args],
    env: { NODE_OPTIONS: '', REDIS_URL: server.url },
  })

test('list, inspect and leaks work in a process of their own', async () => {
  const lease = await newClient({ label: 'api-7' }).getLock('a').lock()
  const list = start('list', '--json')
  const inspect = start('inspect', 'a', '--json', '--look-ms', '0')
  const leaks = start('leaks', '--json', '--lease-ms', '30')
  expect(await list.exited).toEqual({ code: 0, signal: null })
  expect(await list.next()).toMatchObject({ name: 'a', holders: [{ owner: lease.owner }] })
  expect(list.errors).toMatch(/^1 lock of /)
  expect(await inspect.exited).toEqual({ code: 0, signal: null })
  expect(await inspect.next()).toMatchObject({ name: 'a', token: lease.token })
  expect(await leaks.exited).toEqual({ code: 0, signal: null })
  expect(await start('inspect', 'nothing').exited).toEqual({ code: 1, signal: null })
})

test('watch exits with 0 on Ctrl-C, and ends when its reader ends', async () => {
  const client = newClient()
  const lease = await client.getLock('a').lock()
  const watch = start('watch', '--json', '--interval-ms', '50')
  expect(await watch.next()).toMatchObject({ event: 'held', name: 'a' })
  process.kill(watch.pid, 'SIGINT')
  expect(await watch.exited).toEqual({ code: 0, signal: null })
  expect(watch.errors).toBe('')
  const head = startProgram('bash', {
    args: ['-c', `"${process.execPath}" "${main}" watch --interval-ms 50 | head -1`],
    env: { NODE_OPTIONS: '', REDIS_URL: server.url },
  })
  expect(await head.next()).toContain('held     a')
  await lease.release()
  await eventually(() => !head.running, { message: 'the end of watch without a reader' })
})
