import { setTimeout as pause } from 'node:timers/promises'
import { Connection } from '../../src/servers/redis/connection/connection.ts'
import { eventually } from '../support/eventually.ts'
import { atEnd } from '../support/lifetime.ts'
import { startProxy } from '../support/proxy.ts'
import { sharedServer } from '../support/redis-server.ts'

const server = sharedServer()
const SILENCE_MS = 400

async function open() {
  const proxy = await startProxy(server.port)
  const events = { up: jest.fn(), down: jest.fn(), error: jest.fn() }
  const source = { host: proxy.host, port: proxy.port }
  const connection = new Connection({ source, silenceMs: SILENCE_MS, sharded: false }, events)
  atEnd(() => connection.disconnect(), { beforeCheck: true })
  return { proxy, events, connection }
}

/** Waits for the connection. Checks that it stays up for longer than a greeting may take. */
async function staysUp({ events, connection }: Awaited<ReturnType<typeof open>>): Promise<void> {
  await eventually(() => events.up.mock.calls.length === 1)
  await pause(2 * SILENCE_MS) // longer than a late greeting may take, because this is the subject
  expect(connection.up).toBe(true)
  expect(events.down).not.toHaveBeenCalled()
}

test('a connection that breaks during its greeting does not affect the next connection', async () => {
  const opened = await open()
  const { proxy, connection } = opened
  const greeting = proxy.onNextRequest('TIME', 'mute')
  connection.connect()
  await greeting.seen
  proxy.cut()
  await staysUp(opened)
})

test('a greeting that ioredis never settles does not affect the next connection', async () => {
  const opened = await open()
  const { proxy, connection } = opened
  // ioredis behaves like this for some commands that were in flight when a connection broke.
  const { client } = connection
  const time = jest.spyOn(client, 'time').mockImplementationOnce(() => new Promise(() => undefined))
  await eventually(() => time.mock.calls.length === 1)
  proxy.cut()
  await staysUp(opened)
})
