import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, sourceFiles } from './names.ts'

/** The folders whose code is the same for every server. */
const FOLDERS = ['kinds', 'kit', 'lease', 'local', 'locks', 'owner', 'waiting', 'servers']

/** Names in the public API, and a library whose clients share locks with Holdfast. */
const PUBLIC = ['RedisRefusedError', 'RedisUnavailableError', 'Redisson']

/** Words that only one folder or file may use, because it is about Redis. */
const OF_PLACES: Readonly<Record<string, readonly string[]>> = {
  // Each master is a Redis server.
  'src/servers/quorum/': ['RedisServer', 'RedisLock', 'REDIS_WORDS'],
  // A server in memory stands for Redis in the tests of users, so its errors name Redis.
  'src/servers/memory/memory-words.ts': ['Redis', 'redis', 'WRONGTYPE'],
}

const isOfEngine = (file: string): boolean =>
  FOLDERS.some((folder) => file.startsWith(`src/${folder}/`)) &&
  !file.startsWith('src/servers/redis/')

/** Returns the code without comments and imports. `test/repo/layers.test.ts` checks the imports. */
function codeOf(source: string): string {
  return source
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(^|\s)\/\/.*$/gm, '$1')
    .replace(/^import\s[^']*'[^']*'$/gm, '')
}

function wordsIn(file: string, source: string): string[] {
  const places = Object.entries(OF_PLACES).filter(([place]) => file.startsWith(place))
  const allowed = [...PUBLIC, ...places.flatMap(([, words]) => words)]
  const found = codeOf(source).match(/\w*(?:redis|WRONGTYPE)\w*/gi) ?? []
  return found.filter((word) => !allowed.includes(word))
}

test('outside servers/redis, the code of the engine names no Redis', () => {
  const files = sourceFiles().filter(isOfEngine)
  expect(files.length).toBeGreaterThan(150)
  const advice = files.flatMap((file) =>
    wordsIn(file, readFileSync(join(root, file), 'utf8')).map(
      (word) => `${word} (${file}): let the server say this, in src/servers/`,
    ),
  )
  expect(advice).toEqual([])
})

test('the code is read without comments and imports', () => {
  const source = `import { a } from '../redis/a.ts'
/** Redis is a server. */
const b = 'WRONGTYPE a' // as in Redis
const onRedis = redisLatch
const c = new RedisRefusedError(\`Redis \${b}\`)`
  const file = 'src/waiting/a.ts'
  expect(wordsIn(file, source)).toEqual(['WRONGTYPE', 'onRedis', 'redisLatch', 'Redis'])
})

test('an exception counts only in its place', () => {
  const source = 'let node: RedisServer'
  expect(wordsIn('src/servers/quorum/a.ts', source)).toEqual([])
  expect(wordsIn('src/local/a.ts', source)).toEqual(['RedisServer'])
})
