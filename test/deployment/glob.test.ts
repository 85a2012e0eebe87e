import { matcherOf } from '../../tools/inspection/glob.ts'
import { newSetting } from '../commands/setting.ts'
import { holdfast } from '../doctor/diagnose.ts'
import { randomOf } from '../support/random.ts'

const { server, newClient } = newSetting()

const names = [
  'a',
  'b',
  'w',
  'z',
  '-',
  ']',
  '[',
  '[a',
  '\\',
  '^',
  'ab',
  'a-',
  'a]',
  'ä',
  'a\nb',
  'job:1',
]

/** The keys that Redis finds: SCAN MATCH and KEYS use the same test. */
async function foundByRedis(pattern: string): Promise<string[]> {
  return (await server.admin.keys(pattern)).sort()
}

beforeEach(async () => {
  await server.admin.mset(names.flatMap((name) => [name, '1']))
})

test.each([
  '[a',
  '[',
  '[a-',
  '[a-]',
  '[z-a]*',
  '[\\',
  '[\\w]',
  '[^',
  '[^a]',
  '[^]]',
  '[]a]',
  '[a-z',
  '\\',
  '\\a',
  'a\\',
  '*[a-c]*',
  '**a**',
  'a??b',
  '??',
  '*',
])('the pattern %s matches the names that Redis matches', async (pattern) => {
  const isWanted = matcherOf(pattern)
  expect(names.filter(isWanted).sort()).toEqual(await foundByRedis(pattern))
})

test('a thousand random patterns match the names that Redis matches', async () => {
  const random = randomOf(7)
  const some = ['a', 'b', 'w', 'z', '*', '?', '[', ']', '^', '-', '\\', ':', '1', 'ä']
  for (let i = 0; i < 1_000; i++) {
    const length = 1 + random.below(6)
    const pattern = Array.from({ length }, () => random.of(some)).join('')
    const found = names.filter(matcherOf(pattern)).sort()
    expect({ pattern, found }).toEqual({ pattern, found: await foundByRedis(pattern) })
  }
})

test('a pattern with many stars ends fast on a long name', () => {
  expect(matcherOf('*a'.repeat(50))(`${'a'.repeat(10_000)}b`)).toBe(false)
})

test.each(['[a', '[z-a]*', '[\\'])('list matches the pattern %s like SCAN', async (pattern) => {
  const client = newClient()
  for (const name of names) {
    await server.admin.del(name)
    await (await client.getLock(name).lock()).release()
  }
  const { code, out } = await holdfast([
    'list',
    server.url,
    '--all',
    '--json',
    '--pattern',
    pattern,
  ])
  const found = out.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line).name]))
  expect({ code, found: found.sort() }).toEqual({
    code: 0,
    found: names.filter(matcherOf(pattern)).sort(),
  })
})
