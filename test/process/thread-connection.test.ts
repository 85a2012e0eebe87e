import { resolve } from 'node:path'
import { startAddress } from '../support/address.ts'
import { startChild } from '../support/children.ts'
import { eventually, never } from '../support/eventually.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'

interface Told {
  looked?: boolean
  locked?: number
  blocked?: number
  valid?: boolean
  error?: string
  closed?: boolean
}

function startBlockable(url: string, options: object) {
  const file = resolve(__dirname, 'fixtures/blocked.mjs')
  return startChild(file, { args: [JSON.stringify({ url, options })] })
}

const isAboutTheThread = ({ error = '' }: Told) => error.includes('watchdog thread')

/** Returns the number of connections to the server, without the connection of the test. */
async function connectionsTo({ admin }: RedisServer): Promise<number> {
  const all = String(await admin.client('LIST', 'TYPE', 'NORMAL'))
  return all.trim().split('\n').length - 1
}

test('a thread whose server is demoted renews on the new master', async () => {
  const config = { 'repl-diskless-sync': 'yes', 'repl-diskless-sync-delay': 0 }
  const [old, next] = await Promise.all([startRedis({ config }), startRedis({ config })])
  await next.admin.replicaof(old.host, old.port)
  await eventually(async () => Number(await old.admin.wait(1, 100)) === 1)
  const address = await startAddress(old)
  const url = `redis://${address.host}:${address.port}`
  const child = startBlockable(url, { leaseMs: 3_000, watchdogThread: true })
  child.send({ command: 'lock', name: 'it' })
  await child.next<Told>((said: Told) => said.locked !== undefined)
  await eventually(async () => (await connectionsTo(old)) === 2)
  child.send({ command: 'block', ms: 8_000 })
  await old.admin.ping() // WAIT covers only writes before the previous command of this connection.
  await old.admin.wait(1, 1_000)
  await next.admin.replicaof('NO', 'ONE')
  address.switchTo(next)
  await old.admin.replicaof(next.host, next.port)
  await never(async () => (await next.admin.exists('it')) === 0, 7_000)
  expect(await child.next<Told>((said: Told) => said.blocked !== undefined)).toMatchObject({
    valid: true,
  })
  child.send({ command: 'close' })
  await child.next<Told>((said: Told) => said.closed === true)
})

test('a thread that cannot connect reports this once, and continues to try', async () => {
  const server = await startRedis()
  const child = startBlockable(server.url, { leaseMs: 2_000, watchdogThread: true })
  // The server has room for one more connection. The thread connects second, so the server refuses the thread.
  child.send({ command: 'look', name: 'it' })
  await child.next<Told>((said: Told) => said.looked === false)
  await server.admin.config('SET', 'maxclients', '2')
  child.send({ command: 'lock', name: 'it' })
  const { error } = await child.next<Told>(isAboutTheThread)
  expect(error).toMatch(
    /watchdog thread.*Redis.*(max number of clients|ECONNRESET|EPIPE|closed).*tr(y|ies)/,
  )
  expect(error).toMatch(/blocked/)
  const refused = async () =>
    Number(/rejected_connections:(\d+)/.exec(await server.admin.info('stats'))?.[1])
  const before = await refused()
  await eventually(async () => (await refused()) > before + 3)
  await server.admin.config('SET', 'maxclients', '100')
  await eventually(async () => (await connectionsTo(server)) === 2)
  child.send({ command: 'block', ms: 5_000 })
  const told: Told[] = []
  const after = await child.next<Told>((said: Told) => {
    told.push(said)
    return said.blocked !== undefined
  })
  expect(after).toMatchObject({ valid: true })
  expect(told.filter(isAboutTheThread)).toEqual([])
  child.send({ command: 'close' })
  await child.next<Told>((said: Told) => said.closed === true)
})
