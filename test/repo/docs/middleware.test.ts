import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { transformSync } from '@swc/core'
import * as index from '../../../src/index.ts'
import { createMemoryServer } from '../../../src/testing.ts'
import { eventually } from '../../support/eventually.ts'
import { readPage } from './pages.ts'

type Middleware = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => Promise<void>

/** Compiles the middleware of the page. It uses the locks of this client. */
function middleware(holdfast: index.Holdfast): Middleware {
  const block = readPage('docs/how-to/http-handler.md').blocks.find(({ body }) =>
    body.includes('export async function exclusive'),
  )
  const { code } = transformSync(block?.body ?? '', {
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    module: { type: 'commonjs' },
  })
  const exported: { exclusive?: Middleware } = {}
  const run = new Function('exports', 'require', 'holdfast', 'logger', code)
  run(exported, () => index, holdfast, console)
  return exported.exclusive as Middleware
}

test('the middleware of the page on HTTP leaves no lock behind after a waiting browser has closed its connection', async () => {
  const locks = createMemoryServer()
  const [client, elsewhere] = [locks.newClient(), locks.newClient()]
  const exclusive = middleware(client)
  let hungUp = false
  const server = createServer((request, response) => {
    response.once('close', () => (hungUp = true))
    void exclusive(request, response, () => response.end('done'))
  }).listen(0)
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/1001`
  const lock = elsewhere.getLock(`path:${index.escapeName('/1001')}`)
  try {
    const held = await lock.lock()
    const browser = new AbortController()
    const answer = fetch(url, { signal: browser.signal }).catch(({ name }) => name)
    await eventually(async () => (await lock.inspect()).waiters > 0)
    browser.abort()
    expect(await answer).toBe('AbortError')
    await eventually(() => hungUp)
    await held.release()
    await eventually(async () => !(await lock.isLocked()))
    expect(await (await fetch(url, { headers: { connection: 'close' } })).text()).toBe('done')
    await eventually(async () => !(await lock.isLocked()))
  } finally {
    server.close()
    server.closeAllConnections()
    await Promise.all([client.close(), elsewhere.close()])
  }
})
