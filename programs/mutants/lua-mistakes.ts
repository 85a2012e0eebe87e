import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import * as latch from '../../src/servers/redis/scripts/latch.generated.ts'
import * as permits from '../../src/servers/redis/scripts/permits.generated.ts'
import * as readWrite from '../../src/servers/redis/scripts/read-write.generated.ts'
import * as semaphore from '../../src/servers/redis/scripts/semaphore.generated.ts'
import * as runScript from '../../test/lua/run-script.ts'
import * as eventually from '../../test/support/eventually.ts'
import * as leaks from '../../test/support/leaks.ts'
import * as scripts from '../../test/support/scripts.ts'

/**
 * Not a test of `npm test`. `scripts/lua-mistakes.mjs` runs it: the tests of one file, once for each mistake in the
 * scripts, all of them in one process and with one server.
 */

interface Script {
  readonly name: string
  source: string
  sha1: string
}

const { test: file, mistakes }: { test: string; mistakes: Record<string, string>[] } = JSON.parse(
  readFileSync(process.env.HOLDFAST_LUA_MISTAKES as string, 'utf8'),
)

const FOLDERS = { latch, permits, 'read-write': readWrite, semaphore }
const all = Object.values(FOLDERS).flatMap((module) =>
  Object.values(module).map(({ script }): Script => script),
)

/** The state that the tests share, even if their file is loaded many times. */
const SHARED: Record<string, object> = {
  'test/lua/run-script.ts': runScript,
  'test/support/eventually.ts': eventually,
  'test/support/leaks.ts': leaks,
  'test/support/scripts.ts': scripts,
  ...Object.fromEntries(
    Object.entries(FOLDERS).map(([folder, module]) => {
      return [`src/servers/redis/scripts/${folder}.generated.ts`, module]
    }),
  ),
}

const set = (script: Script, source: string) => {
  Object.assign(script, { source, sha1: createHash('sha1').update(source).digest('hex') })
}

describe.each(mistakes.map((sources, i) => [i, sources] as const))('#%i#', (_, sources) => {
  const before = all.map((script) => [script, script.source] as const)

  beforeAll(() => {
    for (const script of all) set(script, sources[script.name] ?? script.source)
  })
  afterAll(() => {
    for (const [script, source] of before) set(script, source)
  })

  jest.isolateModules(() => {
    for (const [path, module] of Object.entries(SHARED)) jest.doMock(resolve(path), () => module)
    require(resolve(file))
  })
})
