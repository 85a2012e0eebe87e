import { needsOf } from '../../tools/doctor/facts/rights.ts'
import { startFakeServer } from '../support/fake-server.ts'
import { additionalRights, rightsOf, rightsOfAllKinds } from '../support/places/rights.ts'
import { startProxy } from '../support/proxy.ts'
import { type RedisServer, sharedServer } from '../support/redis-server.ts'
import { diagnose, holdfast, seen } from './diagnose.ts'

const server = sharedServer()
const isCommand = (word: string) => word.startsWith('+')
/** The rights that the page calls optional. */
const OPTIONAL = ['~holdfast_client:*', '&holdfast_requests:*']
const FOR_ALL = rightsOf('getLock').filter((word) => !isCommand(word) && !OPTIONAL.includes(word))

describe('the rights that the doctor checks', () => {
  const { needed, optional } = needsOf('server', 'app:x', 'app:')
  const masters = needsOf('masters', 'app:x', 'app:').needed[1]
  const cluster = needsOf('cluster', 'app:x', 'app:').needed[1]
  const of = (kind: string) => optional.find((one) => one.kind === kind)
  type Asked = ReturnType<typeof of>
  /** Commands with subcommands. Each subcommand has its own right. */
  const CONTAINERS = ['PUBSUB', 'CLUSTER']
  const rightTo = ([name = '', second = '']: readonly string[]) =>
    `+${CONTAINERS.includes(name) ? `${name}|${second}` : name}`.toLowerCase()
  const wordsOf = (asked: Asked) => [
    ...(asked?.commands ?? []).map(rightTo),
    ...(asked?.patterns ?? []),
  ]
  /** Optional rights, which the doctor does not check. */
  const SPARED = ['+info', '+config|get']
  const listed = (words: readonly string[]) => words.filter((word) => !SPARED.includes(word)).sort()
  const shared = [needed[0], of('presence'), of('requests to release')].flatMap(wordsOf)

  test('the doctor checks the rights on the page for every lock', () => {
    expect([...shared].sort()).toEqual(listed(rightsOf('getLock')))
  })

  const kinds: [string, Asked, string[]][] = [
    ['a fair lock', of('fair lock'), ['getFairLock']],
    ['an election', of('leader election'), ['getLeaderElection']],
    ['a read-write lock', of('read-write lock'), ['getReadWriteLock']],
    ['a latch', of('latch'), ['getCountDownLatch']],
    ['a cyclic barrier', of('cyclic barrier'), ['getCyclicBarrier']],
    ['a rate limiter', of('rate limiter'), ['getRateLimiter']],
    ['a job', of('job'), ['job']],
    ['a semaphore', of('semaphore'), ['getSemaphore', 'getPermitExpirableSemaphore']],
    ['masters', masters, ['masters']],
  ]

  test.each(kinds)(
    'the doctor checks the additional rights on the page for %s',
    (_, asked, titles) => {
      const own = wordsOf(asked).filter((word) => !SPARED.includes(word))
      const words = listed(titles.flatMap(rightsOf))
      expect(own.filter((word) => !words.includes(word))).toEqual([])
      const more = words.filter((word) => !shared.includes(word))
      expect([...new Set(more)].filter((word) => !own.includes(word))).toEqual([])
    },
  )

  test.each([
    ['durability', '~holdfast_confirm', of('durability'), []],
    ['a cluster', '+cluster|slots', cluster, ['+client|setname', '+cluster|nodes']],
  ])(
    'the doctor checks exactly the rights on the page for %s',
    (_, word, asked, spared: string[]) => {
      const words = listed(additionalRights(word)).filter((one) => !spared.includes(one))
      expect(wordsOf(asked).sort()).toEqual(words)
    },
  )
})

describe('a user of the ACL', () => {
  const commands = rightsOfAllKinds().filter((one) => isCommand(one) && one !== '+config|get')
  const LOOKS = ['+config|get', '+scan', '+type', '+hlen', '+acl|whoami', '+acl|dryrun']
  const login = ['--user', 'app', '--pass', 'long-secret']
  const setUser = (...rules: string[]) =>
    server.admin.call('ACL', 'SETUSER', 'app', 'reset', 'on', '>long-secret', ...rules)
  const look = (...args: string[]) =>
    diagnose([server.url, ...login, '--key-prefix', 'app:', ...args])
  afterEach(async () => {
    await server.admin.call('ACL', 'DELUSER', 'app')
    await server.admin.call('ACL', 'LOG', 'RESET')
  })

  test('a user with the rights of the page lacks no right', async () => {
    await setUser(...FOR_ALL, ...commands, ...LOOKS)
    const report = await look()
    expect(report.codes.filter((code) => /rights|refused|part|unknown/.test(code))).toEqual([
      'rights-of-kinds',
    ])
    // The user has no rights to the keys of those kinds.
    expect(seen(report, 'rights-of-kinds')[0]?.seen).toContain('fair lock, leader election')
  })

  test('missing rights are reported, and the printed line grants them', async () => {
    const without = commands.filter((one) => !/^\+(hincrby|publish)$/.test(one))
    const few = FOR_ALL.filter((one) => !/lock_token|lock__channel/.test(one))
    await setUser(...few, ...without, ...LOOKS)
    const report = await look()
    const [finding] = seen(report, 'missing-rights')
    expect(finding).toMatchObject({ level: 'error', at: `127.0.0.1:${server.port}` })
    expect(finding?.seen).toContain(
      "The user app lacks +hincrby +publish '~redisson_lock_token:{app:*' '&redisson_lock__channel:{app:*'.",
    )
    const paste = async ({ fix }: { fix: readonly string[] }) => {
      const rules = / ACL SETUSER app (.*)$/.exec(fix[0] ?? '')?.[1]?.replaceAll("'", '') ?? ''
      await server.admin.call('ACL', 'SETUSER', 'app', ...rules.split(' '))
    }
    await paste(finding as { fix: readonly string[] })
    const mended = await look()
    expect(mended.codes).not.toContain('missing-rights')
    for (const one of seen(mended, 'rights-of-kinds')) await paste(one)
    expect((await look()).codes.filter((code) => /rights/.test(code))).toEqual([])
  })

  test('a user with the rights of a semaphore only lacks the rights of a lock', async () => {
    await setUser(...rightsOf('getSemaphore'), ...LOOKS)
    const [finding] = seen(await look(), 'missing-rights')
    expect(finding?.seen).toContain("'~redisson_lock_token:{app:*'")
    expect((await look('--ignore', 'missing-rights')).codes).not.toContain('missing-rights')
  })

  test('missing key patterns are reported together', async () => {
    await setUser('~app:*', '&other', ...commands, ...LOOKS)
    const [finding] = seen(await look(), 'missing-rights')
    for (const pattern of FOR_ALL.filter((one) => one !== '~app:*')) {
      expect(finding?.seen).toContain(`'${pattern}'`)
    }
    const [noPrefix] = seen(await diagnose([server.url, ...login]), 'missing-rights')
    expect(noPrefix?.fix.join('\n')).toContain('--key-prefix')
  })

  test('the doctor acquires and releases a test lock if the user may not ask about rights', async () => {
    await setUser(...FOR_ALL, ...commands)
    const report = await look()
    expect(report.codes.filter((code) => /right|refused/.test(code))).toEqual([])
    expect(seen(report, 'config-unknown')).toMatchObject([{ level: 'note' }])
    expect(seen(report, 'looked-in-part')[0]?.seen).toMatch(
      /the keys \(NOPERM.*the rights of other kinds/,
    )
    expect(await server.admin.keys('app:*')).toEqual([])

    await setUser(...FOR_ALL, ...commands.filter((one) => one !== '+hset' && one !== '+hincrby'))
    const [refused] = seen(await look(), 'lock-refused')
    expect(refused).toMatchObject({ level: 'error' })
    expect(refused?.seen).toMatch(
      /The user app could not acquire a test lock: .*executing the script can't run this/,
    )
    await server.flush()
  })

  test('the rights of --durability are required, by question or by a test lock', async () => {
    const noWait = commands.filter((one) => one !== '+wait')
    await setUser(...FOR_ALL, ...noWait, ...LOOKS)
    const [missing] = seen(await look('--durability', 'all'), 'missing-rights')
    expect(missing?.seen).toContain("+wait '~holdfast_confirm:{app:*'")
    await setUser(...FOR_ALL, ...commands)
    const [refused] = seen(await look('--durability', '1'), 'lock-refused')
    expect(refused?.seen).toContain('NOPERM')
    expect(refused?.fix.join()).toContain('docs/reference/acl.md')
    await setUser(...FOR_ALL, ...commands, '~holdfast_confirm:{app:*', '+wait')
    const mended = await look('--durability', '1')
    expect(mended.codes).toContain('too-few-replicas')
    expect(mended.codes).not.toContain('lock-refused')
  })

  test('a test lock that is refused for another reason is not reported as missing rights', async () => {
    await setUser(...FOR_ALL, ...commands)
    await server.admin.config('SET', 'min-replicas-to-write', 1)
    const [refused] = seen(await look(), 'lock-refused')
    await server.admin.config('SET', 'min-replicas-to-write', 0)
    expect(refused?.seen).toContain('NOREPLICAS')
    expect(refused?.fix.join()).not.toContain('rights')
  })

  test('rights are unknown if the connection ends during the check', async () => {
    const proxy = await startProxy(server.port)
    let dryRuns = 0
    const isLater = ({ command, args }: { command: string; args: readonly string[] }) =>
      command === 'ACL' && args[0] === 'DRYRUN' && ++dryRuns === 10
    proxy.onNextRequest(isLater, 'cutBefore')
    const report = await diagnose([proxy.url])
    expect(seen(report, 'looked-in-part')[0]?.seen).toContain('the rights (the server closed')
    expect(report.codes.filter((code) => /rights|refused/.test(code))).toEqual([])
  })

  test('a user without any rights gets a report', async () => {
    await setUser('-@all')
    const { code, out, err } = await holdfast(['doctor', server.url, ...login])
    expect({ code, err }).toEqual({ code: 1, err: '' })
    expect(out).toMatch(/INFO was refused: NOPERM/)
    expect(out).toMatch(/CONFIG GET was refused: NOPERM/)
    expect(out).not.toContain('long-secret')
  })

  test('masters require INFO and the keys of their marks', async () => {
    await setUser(...FOR_ALL, ...commands.filter((one) => one !== '+info'), ...LOOKS)
    const url = `redis://app:long-secret@127.0.0.1:${server.port}`
    const report = await diagnose([url, '127.0.0.1:1', '127.0.0.1:2', '--key-prefix', 'app:'])
    expect(seen(report, 'info-unknown')[0]?.why).toContain('such a master does not vote')
    const [missing] = seen(report, 'missing-rights')
    expect(missing?.seen).toContain("+info '~holdfast_birth' '~holdfast_forced:{app:*'")
  })
})

/** A service without the commands for administration. */
test('the doctor reports what it cannot check at a service without CONFIG, ACL and INFO sections', async () => {
  const real = server as RedisServer
  const info = await real.admin.info('server')
  const fake = await startFakeServer(([command = '', second = '']) => {
    const name = command.toUpperCase()
    if (name === 'PING') return '+PONG\r\n'
    if (name === 'TIME') return `*2\r\n$10\r\n${Math.floor(Date.now() / 1000)}\r\n$1\r\n0\r\n`
    if (name === 'INFO') return `$${info.length}\r\n${info}\r\n`
    if (name === 'SCAN') return '*2\r\n$1\r\n0\r\n*0\r\n'
    return `-ERR unknown command '${command}', with args beginning with: '${second}'\r\n`
  })
  const report = await diagnose([`127.0.0.1:${fake.port}`, '--timeout-ms', '3000'])
  expect(seen(report, 'config-unknown')[0]?.seen).toContain("ERR unknown command 'CONFIG'")
  expect(seen(report, 'lock-refused')).toHaveLength(1)
  expect(report.servers[0]).toMatchObject({ reached: true, keysLooked: 0 })
})

test('a server that loads its data from the disk is reported', async () => {
  const fake = await startFakeServer(([command = '']) => {
    const info = 'redis_version:7.2.0\r\nredis_mode:standalone\r\nrole:master\r\nloading:1\r\n'
    if (command.toUpperCase() === 'INFO') return `$${info.length}\r\n${info}\r\n`
    return '-LOADING Redis is loading the dataset in memory\r\n'
  })
  const report = await diagnose([`127.0.0.1:${fake.port}`, '--timeout-ms', '3000'])
  expect(seen(report, 'loading')).toMatchObject([{ level: 'error' }])
  expect(report.exitCode).toBe(1)
})

test('a server that is too old is reported', async () => {
  const fake = await startFakeServer(([command = '']) => {
    const info = 'redis_version:6.0.16\r\nredis_mode:standalone\r\nrole:master\r\n'
    if (command.toUpperCase() === 'INFO') return `$${info.length}\r\n${info}\r\n`
    return command.toUpperCase() === 'PING' ? '+PONG\r\n' : '-ERR unknown command\r\n'
  })
  const report = await diagnose([`127.0.0.1:${fake.port}`, '--timeout-ms', '3000'])
  expect(seen(report, 'too-old')).toMatchObject([{ level: 'error', seen: 'Redis 6.0.16.' }])
  expect(report.codes).not.toContain('old-version')
})
