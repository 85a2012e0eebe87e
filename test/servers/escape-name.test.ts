import { escapeName, Holdfast, InvalidArgumentError } from '../../src/index.ts'
import { rawNameOf } from '../../src/servers/raw-name.ts'
import { nameRule } from '../../src/servers/redis/name-rule.ts'
import { atEnd } from '../support/lifetime.ts'
import { randomOf } from '../support/random.ts'
import { sharedServer } from '../support/redis-server.ts'

const server = sharedServer()

/** Reverses the escaping. This shows that no two names become the same. */
function unescaped(name: string): string {
  if (name === '%-') return ''
  return name.replace(/%(?:u([0-9A-F]{4})|([0-9A-F]{2}))/g, (_, long, short) =>
    String.fromCharCode(Number.parseInt(long ?? short, 16)),
  )
}

/** The most difficult parts of names. */
const PARTS = [
  '{',
  '}',
  '{}',
  ':',
  '%',
  '%-',
  '%7B',
  '%uD83D',
  '\0',
  '\n',
  '\x7f',
  '\x85',
  '\ud83d',
  '\udd12',
]
const ORDINARY = ['a', 'Z', '7', '-', '_', '.', '/', ' ', 'é', '🔒', '__proto__']

function* texts(): Generator<string> {
  yield* ['', ...PARTS, ...ORDINARY]
  for (const a of PARTS) for (const b of [...PARTS, ...ORDINARY]) yield* [a + b, b + a]
  const { below } = randomOf(16)
  const all = [...PARTS, ...ORDINARY]
  for (let i = 0; i < 3_000; i++) {
    yield Array.from({ length: 1 + below(8) }, () => all[below(all.length)]).join('')
  }
}

test('an escaped text is a valid part of a name, in any position and for any client', () => {
  for (const text of texts()) {
    const part = escapeName(text)
    for (const name of [
      part,
      `order:${part}`,
      `${part}:lines`,
      `{${part}}:order`,
      `{shop}:${part}`,
      `${part}{a}`,
    ]) {
      for (const prefix of ['', 'app:', '{app}:']) {
        for (const clustered of [false, true]) {
          expect(rawNameOf(name, prefix, nameRule(clustered))).toBe(prefix + name)
        }
      }
    }
  }
})

test('different texts become different parts that contain no separator', () => {
  const seen = new Map<string, string>()
  for (const text of texts()) {
    const part = escapeName(text)
    expect(unescaped(part)).toBe(text)
    expect(seen.get(part) ?? text).toBe(text)
    seen.set(part, text)
    expect(part).not.toBe('')
    expect(part).not.toMatch(/[:{}\p{Cc}]/u)
  }
  expect(seen.size).toBeGreaterThan(2_000)
})

test.each([
  '1001',
  'ord_4f-9.A',
  '0190f3d2-8f1e-7c3a-9d51-0b6f2e3a4c5d',
  'ada@example.org',
  'größe/🔒 +~*',
  'x'.repeat(5_000),
])('an ordinary id stays as it is: %s', (id) => {
  expect(escapeName(id)).toBe(id)
})

test('a value that is no string is refused', () => {
  for (const [value, shown] of [
    [undefined, 'undefined'],
    [17, '17'],
    [null, 'null'],
  ] as const) {
    expect(() => escapeName(value as never)).toThrow(InvalidArgumentError)
    expect(() => escapeName(value as never)).toThrow(`got ${shown}`)
  }
})

test('names with escaped parts are separate locks in Redis', async () => {
  const client = new Holdfast({ redis: server.url })
  atEnd(() => client.close(), { beforeCheck: true })
  const nameOf = (text: string) => `order:${escapeName(text)}`
  const leases = await Promise.all(
    ['', '{', '}', 'a:b', 'a%3Ab', '\ud83d', '\n'].map((text) =>
      client.getLock(nameOf(text)).lock(),
    ),
  )
  expect((await server.admin.keys('order:*')).sort()).toEqual([
    'order:%-',
    'order:%0A',
    'order:%7B',
    'order:%7D',
    'order:%uD83D',
    'order:a%253Ab',
    'order:a%3Ab',
  ])
  await Promise.all(leases.map((lease) => lease.release()))
})
