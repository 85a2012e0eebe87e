import { Redis } from 'ioredis'
import { eventually } from '../eventually.ts'
import { sharedServer, startRedis } from '../redis-server.ts'

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('a server of a test', () => {
  const pids: number[] = []

  test('a server starts on a port below the ephemeral range and answers', async () => {
    const server = await startRedis()
    pids.push(server.pid)
    expect(server.port).toBeLessThan(20_000)
    expect(await server.admin.ping()).toBe('PONG')
    expect(await server.admin.info('server')).toContain(`process_id:${server.pid}`)
  })

  test('a server is ended with the test that started it', () => {
    expect(pids).toHaveLength(1)
    expect(pids.filter(isAlive)).toEqual([])
  })

  test('a server accepts settings, and its URL has the password', async () => {
    const server = await startRedis({
      config: {
        requirepass: 'p@ss word',
        maxmemory: '7mb',
        'client-output-buffer-limit': ['pubsub', 1, 2, 3],
      },
    })
    expect(await server.admin.config('GET', 'maxmemory')).toEqual(['maxmemory', '7340032'])
    const client = new Redis(server.url)
    expect(await client.ping()).toBe('PONG')
    client.disconnect()
  })

  test('the error says why a server does not start', async () => {
    await expect(startRedis({ config: { 'no-such-setting': 1 } })).rejects.toThrow(
      /no-such-setting/,
    )
  })

  test('a server restarts on the same port, empty and as another process', async () => {
    const server = await startRedis()
    await server.admin.set('k', 'v', 'PX', 60_000)
    const { pid, port } = server
    await server.restart()
    expect(server.port).toBe(port)
    expect(server.pid).not.toBe(pid)
    expect(await server.admin.exists('k')).toBe(0)
  })

  test('a server is silent while it is paused, and answers afterwards', async () => {
    const server = await startRedis()
    await server.admin.ping()
    server.pause()
    let answered = false
    const ping = server.admin.ping().then(() => {
      answered = true
    })
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(answered).toBe(false)
    server.resume()
    await ping
    await server.kill()
    expect(server.running).toBe(false)
    await server.revive()
    expect(await server.admin.ping()).toBe('PONG')
  })

  test('many servers start at once, each on its own port', async () => {
    const servers = await Promise.all(Array.from({ length: 8 }, () => startRedis()))
    expect(new Set(servers.map((server) => server.port)).size).toBe(8)
    for (const server of servers) {
      expect(await server.admin.info('server')).toContain(`process_id:${server.pid}`)
    }
  })
})

describe('the shared server', () => {
  const server = sharedServer()
  let pid = 0

  test('the shared server keeps what a test writes while the test runs', async () => {
    pid = server.pid
    await server.admin.set('k', 'v', 'PX', 60_000)
    expect(await server.admin.exists('k')).toBe(1)
    await server.flush()
    server.pause()
  })

  test('the next test gets the same server, empty and awake', async () => {
    expect(server.pid).toBe(pid)
    expect(await server.admin.dbsize()).toBe(0)
    await server.kill()
  })

  test('the shared server is started again after a test killed it', async () => {
    expect(await eventually(() => server.admin.ping())).toBe('PONG')
  })
})
