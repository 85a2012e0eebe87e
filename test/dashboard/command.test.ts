import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Holdfast } from '../../src/index.ts'
import { holdfast } from '../doctor/diagnose.ts'
import { type Child, startChild } from '../support/children.ts'
import { eventually } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { sharedServer } from '../support/redis-server.ts'

const PROGRAM = 'dist/esm/tools/cli/main.js'

const server = sharedServer()

beforeAll(() => {
  if (!existsSync(join(resolve(__dirname, '../..'), PROGRAM)))
    throw new Error('npm run build first')
})

async function start(...args: string[]): Promise<{ url: URL; program: Child }> {
  const program = startChild(PROGRAM, { args: ['dashboard', '--port', '0', ...args] })
  const line = await program.next<string>((text) => typeof text === 'string')
  const url = new URL(/http:\S+/.exec(line)?.[0] ?? '')
  return { url, program }
}

const ask = (url: URL | string, headers: Record<string, string> = {}) =>
  fetch(url, { redirect: 'manual', headers: { connection: 'close', ...headers } })

test('the dashboard serves the page on this machine, and only with the token of the printed address', async () => {
  const client = new Holdfast({ redis: server.url })
  atEnd(() => client.close(), { beforeCheck: true })
  const lease = await client.getLock('order:1').lock()
  const { url, program } = await start(server.url)
  expect(url.hostname).toBe('127.0.0.1')
  expect((await ask(url.origin)).status).toBe(401)
  expect((await ask(`${url.origin}/api/rows`)).status).toBe(401)
  expect((await ask(`${url.origin}/?token=${'x'.repeat(32)}`)).status).toBe(401)
  const entered = await ask(url)
  expect([entered.status, entered.headers.get('location')]).toEqual([303, './'])
  const set = entered.headers.get('set-cookie') ?? ''
  expect(set).toMatch(/; HttpOnly; SameSite=Strict; Path=\/$/)
  const [cookie = ''] = set.split(';')
  const page = await ask(url.origin, { cookie })
  expect(await page.text()).toContain('<title>Locks')
  expect((await ask(url.origin, { cookie: `${cookie}x` })).status).toBe(401)
  const authorization = `Bearer ${url.searchParams.get('token')}`
  const { rows } = (await (await ask(`${url.origin}/api/rows`, { authorization })).json()) as {
    rows: unknown[]
  }
  expect(rows).toMatchObject([{ key: 'order:1', holders: [{ owner: lease.owner }] }])
  const access = await ask(`${url.origin}/api/access`, { cookie })
  expect(await access.json()).toEqual({ access: 'admin', release: false })
  await lease.release()
  program.kill('SIGTERM')
  expect(await program.exited).toEqual({ code: 0, signal: null })
  expect(program.errors).toBe('')
})

test('the dashboard runs while Redis is down, and reports the outage', async () => {
  const { url, program } = await start('127.0.0.1:1', '--release')
  const authorization = `Bearer ${url.searchParams.get('token')}`
  expect((await ask(url.origin, { authorization })).status).toBe(200)
  const rows = await ask(`${url.origin}/api/rows`, { authorization })
  expect([rows.status, await rows.text()]).toEqual([502, expect.stringContaining('127.0.0.1:1')])
  program.kill('SIGTERM')
  expect((await program.exited).code).toBe(0)
})

test('the dashboard warns if it is open to the network', async () => {
  const { program } = await start(server.url, '--host', '0.0.0.0')
  await eventually(() => program.errors.includes('is not encrypted'))
  program.kill('SIGTERM')
  await program.exited
})

test('the dashboard reports wrong options and a port in use', async () => {
  expect((await holdfast(['dashboard', '--port', '70000'])).err).toContain(
    '--port must be at most 65535; got "70000"',
  )
  expect((await holdfast(['dashboard', '--colour'])).code).toBe(2)
  expect((await holdfast(['dashboard', '--help'])).out).toContain('--history-key')
  const { url, program } = await start(server.url)
  const { code, err } = await holdfast(['dashboard', '--port', url.port, server.url])
  expect([code, err]).toEqual([3, expect.stringContaining('EADDRINUSE')])
  program.kill('SIGTERM')
  await program.exited
})
