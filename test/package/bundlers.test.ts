import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { sharedServer } from '../support/redis-server.ts'

const root = resolve(__dirname, '../..')
const bundlers = join(root, '.cache/bundlers')
const fixtures = join(__dirname, 'bundlers')

/** `npm run test:programs` installs the bundlers, but needs the network for this. */
const areThere = existsSync(join(bundlers, 'node_modules/.package-lock.json'))
const withBundlers = areThere || process.env.CI ? describe : describe.skip

let dir: string

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'holdfast-bundlers-'))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** Makes a user's program with the package installed. */
function newProject(name: string, type: object): string {
  const project = join(dir, name)
  const modules = join(project, 'node_modules')
  mkdirSync(join(modules, 'holdfast'), { recursive: true })
  for (const part of ['package.json', 'dist'])
    cpSync(join(root, part), join(modules, 'holdfast', part), { recursive: true })
  for (const one of ['ioredis', 'eventemitter3', 'nanoid'])
    symlinkSync(join(root, 'node_modules', one), join(modules, one))
  for (const file of ['app.js', 'worker.js']) cpSync(join(fixtures, file), join(project, file))
  writeFileSync(join(project, 'package.json'), JSON.stringify(type))
  return project
}

function run(program: string, ...args: string[]): string {
  return execFileSync(program, args, { encoding: 'utf8', stdio: 'pipe', timeout: 60_000 })
}

/** The lock is held, and the warning about a long hold names the line of the program that acquired the lock. */
const held = { hasToken: true, valid: true, isCallerNamed: true }
const refused = {
  code: 'HOLDFAST_INVALID_ARGUMENT',
  message: expect.stringMatching(/thread cannot start: .*holdfast\/renewal-worker.*workerUrl/),
}

withBundlers('a bundle', () => {
  const server = sharedServer()
  const say = (...args: string[]) => JSON.parse(run(process.execPath, ...args))

  test.each([
    ['esbuild', 'esm', 'plain'],
    ['esbuild', 'cjs', 'minified'],
    ['rollup', 'esm', 'minified'],
    ['rollup', 'cjs', 'plain'],
    ['webpack', 'esm', 'plain'],
    ['webpack', 'cjs', 'minified'],
    ['ncc', 'esm', 'minified'],
    ['ncc', 'cjs', 'plain'],
  ])(
    'a bundle of %s, as %s, %s, locks, and keeps locks while blocked if it has the file of the worker',
    (...how) => {
      const [tool, format] = how
      const project = newProject(`${tool}-${format}`, format === 'esm' ? { type: 'module' } : {})
      run(process.execPath, join(fixtures, 'build.mjs'), bundlers, project, ...how)
      // The output moves to a folder without packages.
      const out = join(dir, `${tool}-${format}-alone`)
      cpSync(join(project, 'out'), out, { recursive: true })
      rmSync(project, { recursive: true })
      const [app, worker] = ['app', 'worker'].map((name) =>
        join(out, `${name}.${format === 'esm' ? 'mjs' : 'cjs'}`),
      ) as [string, string]
      expect(say(app, server.url, 'none')).toEqual(held)
      expect(say(app, server.url, worker)).toEqual(held)
      expect(say(app, server.url, 'packaged')).toEqual(refused)
    },
  )

  test.each([
    ['Bun', ['@oven', /^bun-/], 'bin/bun', []],
    ['Deno', ['@deno', /./], 'deno', ['run', '-A', '--no-lock']],
  ] as const)(
    '%s runs the program without a bundle, with the thread and without it',
    (_, [scope, pattern], file, args) => {
      const packages = join(bundlers, 'node_modules', scope)
      const own = readdirSync(packages).find((name) => pattern.test(name)) ?? ''
      const runtime = join(packages, own, file)
      const app = join(newProject(scope, { type: 'module' }), 'app.js')
      expect(JSON.parse(run(runtime, ...args, app, server.url, 'none'))).toEqual(held)
      expect(JSON.parse(run(runtime, ...args, app, server.url, 'packaged'))).toEqual(held)
    },
  )
})

test('a file that imports only types has no import when it is compiled', () => {
  const project = newProject('types', { type: 'module' })
  const source =
    "import type { Holdfast, Lease } from 'holdfast'\nexport const token = (lease: Lease, _: Holdfast): number => lease.token\n"
  writeFileSync(join(project, 'types.ts'), source)
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const types = ['--typeRoots', join(root, 'node_modules/@types'), '--types', 'node']
  run(
    process.execPath,
    tsc,
    join(project, 'types.ts'),
    '--ignoreConfig',
    '--module',
    'nodenext',
    '--target',
    'es2022',
    '--lib',
    'es2023,esnext.disposable',
    '--skipLibCheck',
    ...types,
  )
  expect(readFileSync(join(project, 'types.js'), 'utf8')).not.toMatch(/import|require|holdfast/)
})
