import { within } from '../support/fault-rig.ts'
import { startTlsPlace } from '../support/places/tls.ts'
import { freePort } from '../support/ports.ts'
import { startProxy } from '../support/proxy.ts'
import { sharedServer, startRedis } from '../support/redis-server.ts'
import { diagnose, holdfast, STEADY, seen } from './diagnose.ts'

const server = sharedServer()

describe('a server that cannot be reached', () => {
  test('a server that cannot be reached is reported with the reason, and the other servers are checked', async () => {
    const port = await freePort()
    const report = await diagnose([server.url, `127.0.0.1:${port}`, 'no-such-host.invalid:6379'])
    expect(report).toMatchObject({ verdict: 'incomplete', exitCode: 3 })
    expect(report.servers.map(({ reached }) => reached)).toEqual([true, false, false])
    expect(report.servers[1]?.why).toContain('ECONNREFUSED')
    expect(report.servers[2]?.why).toMatch(/ENOTFOUND|EAI_AGAIN/)
    expect(seen(report, 'unreachable')).toHaveLength(2)
  })

  test('the doctor ends in time if a server accepts a connection and never answers', async () => {
    const hung = await startRedis()
    hung.pause()
    const report = await within(4_000, diagnose([server.url, hung.url, '--timeout-ms', '700']))
    expect(report.servers[0]?.reached).toBe(true)
    expect(report.servers[1]?.why).toBe('no answer within 700 ms')
    expect(report.exitCode).toBe(3)
    hung.resume()
  })

  test('the doctor ends in time if a server stops answering', async () => {
    const proxy = await startProxy(server.port)
    proxy.onNextRequest('TIME', 'mute')
    const report = await diagnose([proxy.url, '--timeout-ms', '900'])
    expect(report).toMatchObject({ verdict: 'findings', exitCode: 1 })
    expect(report.servers[0]).toMatchObject({ reached: true, role: 'master', medianMs: null })
    expect(seen(report, 'looked-in-part')[0]?.seen).toContain('the clock (no answer within 900 ms)')
  })

  test('the doctor ends if the connection is cut', async () => {
    const proxy = await startProxy(server.port)
    proxy.onNextRequest('TIME', 'cutBefore')
    const report = await diagnose([proxy.url])
    expect(seen(report, 'looked-in-part')[0]?.seen).toContain('the clock (the server closed the')
  })
})

describe('logins', () => {
  const secret = 'Tr0ub4dor&3/@:?#'
  const quoted = encodeURIComponent(secret)
  let locked: Awaited<ReturnType<typeof startRedis>>
  beforeAll(async () => {
    locked = await startRedis({ config: { requirepass: secret } })
    await locked.admin.call('ACL', 'SETUSER', 'ada', 'on', `>${secret}`, '~*', '&*', '+@all')
  })
  const address = () => `127.0.0.1:${locked.port}`

  test.each<[string, () => [string[], Record<string, string>]]>([
    ['in the URL', () => [[`redis://:${quoted}@${address()}`], {}]],
    ['of a user in the URL', () => [[`redis://ada:${quoted}@${address()}/0`], {}]],
    ['in REDIS_URL', () => [[], { REDIS_URL: `redis://:${quoted}@${address()}` }]],
    ['in REDISCLI_AUTH', () => [['-u', address()], { REDISCLI_AUTH: secret }]],
    ['as options', () => [['--user', 'ada', '--pass', secret, address()], {}]],
  ])('a password %s is accepted and never shown', async (_, given) => {
    const [args, env] = given()
    const report = await diagnose(args, env)
    expect(report.servers[0]).toMatchObject({ reached: true, address: address(), role: 'master' })
    expect(report.codes.filter((code) => /rights|refused/.test(code))).toEqual([])
    const { out } = await holdfast(['doctor', ...args], { env })
    for (const text of [out, JSON.stringify(report)]) {
      expect(text).not.toContain(secret)
      expect(text).not.toContain(quoted)
    }
  })

  test('a password that a server does not need is left out', async () => {
    const report = await diagnose([server.url], { REDISCLI_AUTH: secret })
    expect(report.servers[0]?.reached).toBe(true)
  })

  test('a wrong or a missing password is reported without the password', async () => {
    const wrong = await holdfast(['doctor', `redis://ada:hunter2-${quoted}@${address()}`])
    expect(wrong.code).toBe(3)
    expect(wrong.out).toContain('WRONGPASS')
    expect(wrong.out).not.toMatch(/hunter2|Tr0ub/)
    const missing = await diagnose([address()])
    expect(missing.servers[0]?.why).toMatch(/^NOAUTH/)
  })

  test.each([
    ['redis://:hunter2@host:notaport', '"redis://***@host:notaport"'],
    ['redis://:hun@ter2@ho st', '"redis://***@ho st"'],
    ['http://ada:hunter2@host', '"http://***@host"'],
    ['redis://host:1/db?password=hunter2', '"redis://host:1/db?***"'],
  ])('an invalid address is shown without its login: %s', async (url, shown) => {
    const { code, out, err } = await holdfast(['doctor', url])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(shown)
    expect(err).not.toMatch(/hunter2|ter2/)
  })
})

describe('TLS', () => {
  let port: number
  let files: { ca: string; cert: string; key: string }
  beforeAll(async () => {
    const place = await startTlsPlace()
    port = place.port
    files = place.files
  })

  test('the doctor connects with a client certificate', async () => {
    const withKey = ['--cacert', files.ca, '--cert', files.cert, '--key', files.key]
    const report = await diagnose([`rediss://127.0.0.1:${port}`, ...withKey])
    expect(report.servers[0]).toMatchObject({ reached: true, role: 'master' })
    const sameByOption = await diagnose(['--tls', `127.0.0.1:${port}`, ...withKey])
    expect(sameByOption.servers[0]?.reached).toBe(true)
    expect(seen(report, 'no-persistence')[0]?.fix[0]).toContain(`-p ${port} --tls CONFIG SET`)
  })

  test('the doctor reports what is missing for TLS', async () => {
    const ca = ['--cacert', files.ca]
    const noCertificate = await diagnose([`rediss://127.0.0.1:${port}`, ...ca])
    expect(noCertificate.servers[0]?.why).toMatch(/client certificate: use --cert and --key|closed/)
    const unknownCa = await diagnose([`rediss://127.0.0.1:${port}`])
    expect(unknownCa.servers[0]?.why).toMatch(/certificate/)
    const plain = await diagnose([`127.0.0.1:${port}`])
    expect(plain.servers[0]?.why).toContain('--tls')
    const notTls = await diagnose(['--tls', server.url, '--timeout-ms', '900'])
    expect(notTls.servers[0]?.why).toBe('no answer within 900 ms; does the server use TLS?')
  })
})

describe('the program', () => {
  test.each<[string, string[], RegExp]>([
    ['an unknown option', ['--nope'], /Unknown option '--nope'/],
    ['an unknown level', ['--fail-on', 'note'], /--fail-on must be error or warning; got "note"/],
    ['a lease that is not a number', ['--lease-ms', '30s'], /--lease-ms .* at least 10; got "30s"/],
    ['an unknown durability', ['--durability', 'some'], /--durability .*; got "some"/],
    ['an unknown code', ['--ignore', 'persistence'], /got "persistence"\. There are: unreach/],
    ['a missing file', ['--cacert', '/no/file'], /--cacert .*ENOENT.*"\/no\/file"/],
    ['a server given twice', ['a:1', 'redis://a:1'], /a:1 was given twice/],
    ['Sentinels without a name', ['--sentinel', 'a:1'], /--master-name/],
    ['a name without Sentinels', ['--master-name', 'm'], /--sentinel/],
    [
      'Sentinels and a cluster',
      ['--sentinel', 'a:1', '--master-name', 'm', 'b:1'],
      /Give either --sentinel/,
    ],
  ])('%s is refused with exit code 2', async (_, args, message) => {
    const { code, out, err } = await holdfast(['doctor', ...args])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(message)
    expect(err).toContain('npx holdfast doctor --help')
  })

  test('the program lists its commands, prints its version, and refuses unknown commands', async () => {
    expect(await holdfast(['--version'])).toEqual({ code: 0, out: '1.2.3\n', err: '' })
    expect((await holdfast(['--help'])).out).toContain('doctor')
    expect((await holdfast(['doctor', '--help'])).out).toContain('--master-name')
    expect(await holdfast([])).toMatchObject({ code: 2, out: '' })
    expect(await holdfast(['heal'])).toMatchObject({
      code: 2,
      err: 'There is no command "heal". There are: list, inspect, watch, leaks, release, history, bench, doctor, dashboard.\n',
    })
  })

  test('the exit code depends on --fail-on, and ignored findings are left out', async () => {
    const look = (...args: string[]) => diagnose([server.url, ...args])
    expect((await look()).exitCode).toBe(1)
    expect((await look('--fail-on', 'error', ...STEADY)).exitCode).toBe(0)
    const accepted = await look('--ignore', `no-persistence,${STEADY[1]}`)
    expect(accepted).toMatchObject({ exitCode: 0, findings: [], ignored: expect.anything() })
    expect(accepted.ignored).toContain('no-persistence')
  })

  test('the program uses colours on a terminal, unless the environment forbids colours', async () => {
    const look = (isTerminal: boolean, env: Record<string, string> = {}) =>
      holdfast(['doctor', server.url], { isTerminal, env })
    expect((await look(true)).out).toContain('\u001b[')
    expect((await look(false)).out).not.toContain('\u001b[')
    expect((await look(true, { NO_COLOR: '1' })).out).not.toContain('\u001b[')
    expect((await look(true, { TERM: 'dumb' })).out).not.toContain('\u001b[')
  })

  test('the report begins with the verdict, and its lines fit the width, except commands', async () => {
    const { out } = await holdfast(['doctor', server.url], { columns: 72 })
    expect(out.split('\n')[0]).toMatch(/^Fit for locks while nothing fails\. 1 warning/)
    const prose = out.split('\n').filter((line) => /^ {2}(seen|why| {4}) {2}[^#r]/.test(line))
    expect(prose.length).toBeGreaterThan(3)
    expect(prose.filter((line) => line.length > 72)).toEqual([])
  })
})
