import { Holdfast } from '../../src/index.ts'
import { leaves } from '../support/leaks.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { expectWarnings } from '../support/warnings.ts'
import { AT_ONCE, allow, CONFIG, LEFT, type Login, listsOf, refusals } from './acl/acl-rig.ts'
import { inhabit, READING, TOOLS, WRITING } from './acl/tools.ts'

describe.each(Object.keys(TOOLS))('%s', (title) => {
  const [withPrefix, without] = listsOf(title)
  const tool = TOOLS[title] as (typeof TOOLS)[string]

  async function visit(
    server: RedisServer,
    login: Login,
    words: readonly string[],
    names: readonly string[],
  ) {
    await allow(login, [server], words)
    const url = `redis://${login.user}:secret@${server.host}:${server.port}`
    await tool({ url, keyPrefix: login.keyPrefix, names })
  }

  async function withLocks(
    server: RedisServer,
    keyPrefix: string,
    use: (names: string[]) => Promise<void>,
  ) {
    const clients: Holdfast[] = []
    await server.admin.xadd('holdfast_history', '*', 'event', 'acquired')
    // Adds a waiter of Redisson's fair lock, and a hash of another program.
    await server.admin.rpush(`redisson_lock_queue:{${keyPrefix}plain}`, 'java:1')
    await server.admin.hset(`${keyPrefix}other`, 'a', '1')
    try {
      const names = await inhabit(() => {
        const client = new Holdfast({ redis: server.url, keyPrefix })
        client.on('error', () => undefined)
        clients.push(client)
        return client
      })
      await use(names)
    } finally {
      await Promise.all(clients.map((client) => client.close()))
    }
  }

  test('the list of rights is enough, with a key prefix and without one', async () => {
    leaves(LEFT)
    const server = await startRedis({ config: CONFIG })
    await withLocks(server, 'app:', (names) =>
      visit(server, { user: 'prefix', keyPrefix: 'app:' }, withPrefix, names),
    )
    await server.flush()
    await withLocks(server, '', (names) =>
      visit(server, { user: 'none', keyPrefix: '' }, without, names),
    )
    const isNew = Number(/redis_version:(\d+)/.exec(await server.admin.info('server'))?.[1]) >= 7
    if (READING.includes(title) && isNew) {
      const toRead = without.map((word) => word.replace(/^~/, '%R~'))
      await server.flush()
      await withLocks(server, '', (names) =>
        visit(server, { user: 'reader', keyPrefix: '' }, toRead, names),
      )
    }
    expect(await refusals([server])).toEqual([])
  })

  test('the list of rights is the smallest: without any one word Redis refuses something', async () => {
    leaves(LEFT)
    // A release by force takes permits away from clients that state the number of permits.
    expectWarnings('HOLDFAST_PERMITS_DIFFER')
    const logins = withPrefix.map((word, i) => ({ word, user: `u${i}` }))
    const without = (word: string) => withPrefix.filter((one) => one !== word)
    const why = new Map<string, unknown>()
    const isWriting = WRITING.includes(title)
    const visitAs = async (
      server: RedisServer,
      { word, user }: (typeof logins)[number],
      names: readonly string[],
    ) => {
      await visit(server, { user, keyPrefix: 'app:' }, without(word), names).catch((error) =>
        why.set(word, error),
      )
    }
    const waiting = [...logins]
    const each = async (work: (login: (typeof logins)[number]) => Promise<void>) => {
      for (let login = waiting.pop(); login !== undefined; login = waiting.pop()) await work(login)
    }
    const servers = await Promise.all(
      Array.from({ length: isWriting ? 6 : 1 }, () => startRedis({ config: CONFIG })),
    )
    await Promise.all(
      servers.map((server) =>
        isWriting
          ? each(async (login) => {
              await withLocks(server, 'app:', (names) => visitAs(server, login, names))
              await server.flush()
            })
          : withLocks(server, 'app:', async (names) => {
              const work = (login: (typeof logins)[number]) => visitAs(server, login, names)
              await Promise.all(Array.from({ length: AT_ONCE }, () => each(work)))
            }),
      ),
    )
    const refused = new Set((await refusals(servers)).map(({ username }) => username))
    const unused = logins.filter(({ user }) => !refused.has(user)).map(({ word }) => word)
    expect(unused.map((word) => `${word}: ${why.get(word)}`)).toEqual([])
  })
})
