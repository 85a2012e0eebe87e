import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
// @ts-expect-error: its types are a package of their own.
import express from 'express'
import fastify from 'fastify'
import 'reflect-metadata'
import { newDashboard } from '../../tools/dashboard/dashboard.ts'
import { createDashboard, type Dashboard } from '../../tools/dashboard/handler/create.ts'
import { requestOf } from '../../tools/dashboard/handler/node-requests.ts'
import { eventually } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { FakeInspection } from './fake-inspection.ts'
import { Viewer } from './viewer.ts'

type User = { readonly user?: string }

/** A usual login: a header contains the session. */
function logIn(request: IncomingMessage & { user?: string }): boolean {
  const { cookie } = request.headers
  if (!cookie?.startsWith('session=')) return false
  request.user = cookie.replace('session=', '')
  return true
}

const refuse = (response: ServerResponse) => void response.writeHead(401).end('log in first')

/** Each serves the dashboard under /admin/locks, behind that login, with a parser of bodies in front. */
const mounts: Record<string, (dashboard: Dashboard) => Promise<string>> = {
  async 'Express 5'(dashboard) {
    const app = express()
    app.use(express.json())
    app.use(
      '/admin/locks',
      (request: IncomingMessage, response: ServerResponse, next: () => void) =>
        logIn(request) ? next() : refuse(response),
      dashboard.node,
    )
    const server = app.listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    atEnd(
      async () => {
        server.closeAllConnections()
        await new Promise((resolve) => server.close(resolve))
      },
      { beforeCheck: true },
    )
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  },
  async 'Fastify 5'(dashboard) {
    const app = fastify({ forceCloseConnections: true })
    await app.register(
      async (scope) => {
        scope.addHook('onRequest', async (request, reply) => {
          if (!logIn(request.raw)) return reply.code(401).send('log in first')
        })
        const serve = async (
          request: { raw: IncomingMessage },
          reply: { hijack(): void; raw: ServerResponse },
        ) => {
          reply.hijack()
          await dashboard.node(request.raw, reply.raw)
        }
        scope.all('/', serve)
        scope.all('/*', serve)
      },
      { prefix: '/admin/locks' },
    )
    atEnd(() => app.close(), { beforeCheck: true })
    return app.listen({ port: 0, host: '127.0.0.1' })
  },
  async 'NestJS 11'(dashboard) {
    const AppModule = class {}
    Module({})(AppModule)
    const app = await NestFactory.create(AppModule, { logger: false, forceCloseConnections: true })
    app.use(
      '/admin/locks',
      (request: IncomingMessage, response: ServerResponse, next: () => void) =>
        logIn(request) ? next() : refuse(response),
      dashboard.node,
    )
    await app.listen(0, '127.0.0.1')
    atEnd(() => app.close(), { beforeCheck: true })
    return app.getUrl()
  },
}

describe.each(Object.keys(mounts))('on %s', (name) => {
  async function start() {
    const locks = new FakeInspection()
    locks.set('a', { token: 7, holders: [{ owner: 'x:1' }] })
    const dashboard = createDashboard(
      locks.open,
      {
        authorize: (_, context) => ((context as User).user === 'ann' ? 'admin' : 'read'),
        release: true,
      },
      { times: { gapMs: 5, lookMs: 20, scanMs: 30, lingerMs: 1 } },
    )
    const origin = await mounts[name]?.(dashboard)
    atEnd(() => dashboard.close(), { beforeCheck: true })
    const ask = (path: string, init: RequestInit = {}) =>
      fetch(`${origin}${path}`, {
        redirect: 'manual',
        ...init,
        headers: { connection: 'close', cookie: 'session=ann', ...init.headers },
      })
    return { locks, dashboard, ask }
  }

  test('the dashboard is served under its path, with and without the slash, and nowhere else', async () => {
    const { ask } = await start()
    const page = await ask('/admin/locks/')
    expect([page.status, page.headers.get('content-type')]).toEqual([
      200,
      'text/html; charset=utf-8',
    ])
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(await page.text()).toContain('<title>Locks')
    const bare = await ask('/admin/locks')
    expect([bare.status, bare.headers.get('location')]).toEqual([308, './locks/'])
    const style = await ask('/admin/locks/page.css')
    // A body that is not read keeps its connection.
    expect([style.status, await style.text()]).toEqual([200, expect.stringContaining(':root')])
    expect((await ask('/other')).status).toBe(404)
  })

  test('the login in front of the dashboard runs first, and authorize receives its result', async () => {
    const { ask, locks } = await start()
    expect((await ask('/admin/locks/', { headers: { cookie: 'nobody' } })).status).toBe(401)
    const path = '/admin/locks/api/access'
    expect(await (await ask(path)).json()).toEqual({ access: 'admin', release: true })
    const bob = await ask(path, { headers: { cookie: 'session=bob' } })
    expect(await bob.json()).toEqual({ access: 'read', release: true })
    expect(locks.released).toEqual([])
  })

  test('a forced release works even if the body of the request was read before', async () => {
    const { ask, locks } = await start()
    const response = await ask('/admin/locks/api/release?key=a&owner=x%3A1&token=7', {
      method: 'POST',
      body: '{"a":1}',
      headers: { 'holdfast-dashboard': 'release', 'content-type': 'application/json' },
    })
    expect([response.status, await response.json()]).toMatchObject([200, { outcome: 'released' }])
    expect(locks.released).toHaveLength(1)
  })

  test('the stream arrives message by message, and ends when the viewer leaves', async () => {
    const { ask, locks } = await start()
    const gone = new AbortController()
    const response = await ask('/admin/locks/api/stream', { signal: gone.signal })
    const viewer = new Viewer(response.body as ReadableStream<Uint8Array>)
    const over = viewer.follow().catch(() => undefined)
    await eventually(() => viewer.keys.length === 1)
    locks.set('b', { holders: [{}] })
    await eventually(() => viewer.keys.length === 2)
    gone.abort()
    await over
    await eventually(() => locks.asked.closed === 1)
  })
})

describe('a request that is not a valid Request', () => {
  const asked = jest.fn()

  async function start() {
    asked.mockClear()
    const dashboard = newDashboard({
      redis: 'redis://127.0.0.1:1',
      authorize: (request) => {
        asked(new URL(request.url))
        return 'none'
      },
    })
    const next = jest.fn()
    const server = createServer((incoming, outgoing) => {
      void dashboard.node(incoming, outgoing, next)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const end = async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await dashboard.close()
    }
    atEnd(end, { beforeCheck: true })
    const { port } = server.address() as AddressInfo
    return { next, send: (line: string) => rawAnswer(port, line) }
  }

  let warn: jest.SpyInstance
  beforeEach(() => {
    warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
  })
  afterEach(() => warn.mockRestore())

  test.each(['TRACE', 'OPTIONS', 'PUT', 'DELETE', 'PROPFIND'])(
    'a request with %s is answered with 405, before authorize, without a process warning',
    async (method) => {
      const { send, next } = await start()
      const answer = await send(`${method} /locks/ HTTP/1.1`)
      expect(answer).toMatch(/^HTTP\/1\.1 405 /)
      expect(answer).toMatch(/^allow: GET, HEAD, POST\r$/im)
      expect([asked, next, warn].map(({ mock }) => mock.calls.length)).toEqual([0, 0, 0])
    },
  )

  test.each(['http://[/locks/', '*', 'locks/', 'http://d:99999/locks/'])(
    'a request for the path %s is answered with 400, before authorize, without a process warning',
    async (path) => {
      const { send, next } = await start()
      expect(await send(`GET ${path} HTTP/1.1`)).toMatch(/^HTTP\/1\.1 400 /)
      expect([asked, next, warn].map(({ mock }) => mock.calls.length)).toEqual([0, 0, 0])
    },
  )

  test.each([
    ['/\\[', '/['],
    ['/\\host/', '/host/'],
    ['//host/', '/host/'],
    ['/locks//host/', '/locks//host/'],
    ['http://elsewhere/locks/', '/locks/'],
  ])('the path %s is read as a path, never as a host', async (path, pathname) => {
    const { send } = await start()
    expect(await send(`GET ${path} HTTP/1.1`)).toMatch(/^HTTP\/1\.1 403 /)
    expect(asked.mock.calls[0]?.[0]).toMatchObject({ host: 'dashboard', pathname })
    expect(warn).not.toHaveBeenCalled()
  })

  test('a path with a tab, which HTTP/2 allows, is read as a path', () => {
    const request = { method: 'GET', headers: {}, url: '/\t/host/' } as IncomingMessage
    const { url } = requestOf(request, new AbortController().signal)
    expect(new URL(url).host).toBe('dashboard')
  })
})

/** The first part of the answer to a request line that no client would send. */
async function rawAnswer(port: number, line: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write(`${line}\r\nhost: d\r\nconnection: close\r\n\r\n`)
  const parts: Buffer[] = []
  for await (const part of socket) parts.push(part as Buffer)
  return Buffer.concat(parts).toString()
}

test('an error in authorize is a warning of the process, and is not shown to the client', async () => {
  const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
  const dashboard = newDashboard({
    redis: 'redis://127.0.0.1:1',
    authorize: () => {
      throw new Error('the secret of the session store')
    },
  })
  const server = createServer((incoming, outgoing) => void dashboard.node(incoming, outgoing))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  expect(answer.status).toBe(500)
  expect(await answer.text()).not.toContain('secret')
  expect(String(warn.mock.calls[0]?.[0])).toContain('secret')
  warn.mockRestore()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await dashboard.close()
})
