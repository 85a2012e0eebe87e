import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { hasPassword, whereOptions } from '../../tools/inspection/redis/where-options.ts'
import { readWhere, WHERE_OPTIONS } from '../../tools/servers/where.ts'

/**
 * Returns the place that the program reads from these words in a real shell. The environment may contain a password.
 */
function whereOf(words: string, env: Record<string, string> = {}) {
  const split = execFileSync('bash', ['-c', `printf '%s\\0' ${words}`], { encoding: 'utf8' })
  const args = split.split('\0').slice(0, -1)
  const { values, positionals } = parseArgs({
    args,
    options: WHERE_OPTIONS,
    allowPositionals: true,
  })
  return readWhere(values, positionals, env)
}

test.each([
  ['one server', "--url='redis://10.0.0.5:6380/3'"],
  ['a server with IPv6', '--url=redis://[::1]:6380'],
  ['a server with TLS', '--url=rediss://redis.example.org'],
  ['a socket', "--url='/run/my redis.sock'"],
  ['a server with a user', `--user="o'brien" --url=10.0.0.5`],
  ['masters', '--url=a:1 --url=b:2 --url=c:3'],
  ['a cluster', '--cluster --url=a:1 --url=b:2 --user=-x'],
  ['Sentinels', '--sentinel=a:1,b:2 --master-name="my master" --user=u --sentinel-user=s --tls'],
])('the printed options for %s lead to the same place', (_, given) => {
  const where = whereOf(given)
  expect(whereOf(whereOptions(where))).toEqual(where)
  expect(hasPassword(where)).toBe(false)
})

test('the printed options have no password, and lead to the same place with the password from the environment', () => {
  const env = { REDISCLI_AUTH: 'secret' }
  for (const given of ['--url=redis://ann:secret@10.0.0.5', '--user=ann --pass=secret --url=a:1']) {
    const where = whereOf(given)
    expect(hasPassword(where)).toBe(true)
    const words = whereOptions(where)
    expect(words).not.toContain('secret')
    expect(words).toContain('--user=ann')
    expect(whereOf(words, env)).toEqual(where)
  }
  const sentinels = '--sentinel=a:1 --master-name=m --pass=secret --sentinel-pass=secret'
  expect(hasPassword(whereOf(sentinels))).toBe(true)
  expect(whereOptions(whereOf(sentinels))).not.toContain('secret')
})
