import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Dashboard, newDashboard } from '../../tools/dashboard/dashboard.ts'
import { createDashboard } from '../../tools/dashboard/handler/create.ts'
import { eventually } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { sharedServer } from '../support/redis-server.ts'
import { FakeInspection } from './fake-inspection.ts'

const CLOSED = [502, { error: 'The dashboard was closed.' }]

/** A deployment that never answers, like a server that hangs. */
class HungDeployment extends FakeInspection {
  hung = 0
  readonly #hang = () => {
    this.hung++
    return new Promise<never>(() => undefined)
  }
  override async *list() {
    yield await this.#hang()
  }
  override read = this.#hang
  override inspect = this.#hang
  override forceRelease = this.#hang
}

async function serve(dashboard: Dashboard) {
  const server = createServer((incoming, outgoing) => void dashboard.node(incoming, outgoing))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(
    () => {
      void dashboard.close()
      server.closeAllConnections()
      server.close()
    },
    { beforeCheck: true },
  )
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const ask = async (path: string, init: RequestInit = {}) => {
    const headers = { connection: 'close', ...init.headers }
    const response = await fetch(`${origin}/locks/api/${path}`, { ...init, headers })
    return [response.status, await response.json()]
  }
  return { server, ask }
}

const isClosed = (server: ReturnType<typeof createServer>) =>
  new Promise((resolve) => server.close(resolve))

test('a request for all rows is answered when the dashboard closes during the first scan', async () => {
  const locks = new HungDeployment()
  const dashboard = createDashboard(locks.open, { authorize: () => 'read' })
  const { server, ask } = await serve(dashboard)
  const asked = ask('rows')
  await eventually(() => locks.hung > 0)
  const closing = isClosed(server)
  void dashboard.close()
  expect(await asked).toEqual(CLOSED)
  await closing
})

test('many requests that wait emit no process warning', async () => {
  const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
  const locks = new HungDeployment()
  const dashboard = createDashboard(locks.open, { authorize: () => 'read' })
  const { ask } = await serve(dashboard)
  const asked = Array.from({ length: 30 }, () => ask('lock?key=a'))
  await eventually(() => locks.hung >= 30)
  await dashboard.close()
  await Promise.all(asked)
  expect(warn).not.toHaveBeenCalled()
  warn.mockRestore()
})

test.each<[string, RequestInit]>([
  ['lock?key=a', {}],
  [
    'release?key=a&owner=x:1&token=7',
    { method: 'POST', headers: { 'holdfast-dashboard': 'release' } },
  ],
])('api/%s is answered when the dashboard closes before its server answers', async (path, init) => {
  const locks = new HungDeployment()
  const dashboard = createDashboard(locks.open, { authorize: () => 'admin', release: true })
  const { server, ask } = await serve(dashboard)
  const asked = ask(path, init)
  await eventually(() => locks.hung > 0)
  const closing = isClosed(server)
  void dashboard.close()
  expect(await asked).toEqual(CLOSED)
  await closing
})

describe('a server that does not answer', () => {
  const redis = sharedServer()

  test('close() ends the dashboard and answers its requests while the server does not answer', async () => {
    const history = { redis: redis.url }
    const dashboard = newDashboard({ redis: redis.url, authorize: () => 'read', history })
    const { server, ask } = await serve(dashboard)
    expect((await ask('rows'))[0]).toBe(200)
    redis.pause()
    let arrived = 0
    server.on('request', () => arrived++)
    const asked = ['rows', 'lock?key=a', 'past'].map((path) => ask(path))
    await eventually(() => arrived === 3)
    const closing = isClosed(server)
    await dashboard.close()
    const [rows, ...others] = await Promise.all(asked)
    // The rows of the first scan are known already.
    expect([rows?.[0], ...others]).toEqual([200, CLOSED, CLOSED])
    await closing
    await redis.revive()
  })
})
