import { execFileSync, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { sharedServer } from '../support/redis-server.ts'

const root = resolve(__dirname, '../..')
const ioredis = process.env.HOLDFAST_IOREDIS === '5' ? 'ioredis-5' : 'ioredis'

/** A folder of small projects that have the packed tarball installed, as a user has it. */
let dir: string
let packed: string[]

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'holdfast-package-'))
  if (!existsSync(join(root, 'dist/cjs/package.json'))) {
    throw new Error('dist/ is not there: run `npm run build` first')
  }
  write('package.json', '{ "private": true }')
  const [tarball] = JSON.parse(npm(root, 'pack', '--json', '--pack-destination', dir))
  packed = tarball.files.map((file: { path: string }) => file.path)

  // Exact versions that are installed already, so npm finds them in its cache.
  const { version } = JSON.parse(
    readFileSync(join(root, 'node_modules', ioredis, 'package.json'), 'utf8'),
  )
  npm(dir, 'install', `./${tarball.filename}`, `ioredis@${version}`, '--prefer-offline')
}, 120_000)

afterAll(() => rmSync(dir, { recursive: true, force: true }))

function npm(cwd: string, ...args: string[]): string {
  return run(cwd, 'npm', ...args, '--no-audit', '--no-fund', '--no-update-notifier')
}

/** Rejects, with what the program printed, when it fails or does not end by itself. */
function run(cwd: string, program: string, ...args: string[]): string {
  try {
    return execFileSync(program, args, { cwd, encoding: 'utf8', stdio: 'pipe', timeout: 110_000 })
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string }
    throw new Error(`${program} ${args.join(' ')}\n${stdout}\n${stderr}`, { cause: error })
  }
}

function write(file: string, text: string): void {
  mkdirSync(dirname(join(dir, file)), { recursive: true })
  writeFileSync(join(dir, file), text)
}

const esm = `import * as holdfast from 'holdfast'
import { Holdfast } from 'holdfast'
if (Holdfast !== holdfast.Holdfast) throw new Error('two classes')
console.log(JSON.stringify(Object.keys(holdfast)))
`
const cjs = `const holdfast = require('holdfast')
console.log(JSON.stringify(Object.keys(holdfast)))
`
const testingEsm = `import { Holdfast } from 'holdfast'
import * as testing from 'holdfast/testing'
const client = testing.createMemoryServer().newClient()
if (!(client instanceof Holdfast)) throw new Error('two classes')
await client.getLock('it').lock()
console.log(JSON.stringify(Object.keys(testing)))
`
const testingCjs = `const { Holdfast } = require('holdfast')
const testing = require('holdfast/testing')
const client = testing.createMemoryServer().newClient()
if (!(client instanceof Holdfast)) throw new Error('two classes')
client.getLock('it').lock().then(() => console.log(JSON.stringify(Object.keys(testing))))
`

test('an ES module finds the named exports, and no default', () => {
  write('esm/package.json', '{ "type": "module" }')
  write('esm/main.js', esm)
  const names: string[] = JSON.parse(run(join(dir, 'esm'), process.execPath, 'main.js'))
  expect(names.sort()).toMatchSnapshot('exports')
  expect(names).toContain('Holdfast')
  expect(names).not.toContain('default')
})

test('CommonJS finds the same', () => {
  write('esm/package.json', '{ "type": "module" }')
  write('esm/main.js', esm)
  write('cjs/package.json', '{ "type": "commonjs" }')
  write('cjs/main.js', cjs)
  const names = (folder: string) =>
    JSON.parse(run(join(dir, folder), process.execPath, 'main.js')).sort()
  expect(names('cjs')).toEqual(names('esm'))
})

test('the entry for tests has its own names, works in both, and ends with what is held', () => {
  write('esm/package.json', '{ "type": "module" }')
  write('esm/testing.js', testingEsm)
  write('cjs/package.json', '{ "type": "commonjs" }')
  write('cjs/testing.js', testingCjs)
  const names = (folder: string) =>
    JSON.parse(run(join(dir, folder), process.execPath, 'testing.js')).sort()
  expect(names('esm')).toMatchSnapshot('exports')
  expect(names('cjs')).toEqual(names('esm'))
})

describe('the program', () => {
  const server = sharedServer()
  const npx = (...args: string[]) =>
    spawnSync('npx', ['--no-install', 'holdfast', ...args], {
      cwd: dir,
      encoding: 'utf8',
      env: { ...process.env, NODE_OPTIONS: '', REDIS_URL: server.url },
      timeout: 60_000,
    })

  test('is found by npx, and looks at a server', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    expect(npx('--version')).toMatchObject({ status: 0, stdout: `${version}\n` })
    const found = npx('doctor', '--json')
    expect(JSON.parse(found.stdout)).toMatchObject({
      verdict: 'findings',
      servers: [{ address: `127.0.0.1:${server.port}`, reached: true }],
    })
    expect(found.status).toBe(1)
    const nothing = npx('doctor', '127.0.0.1:1')
    expect(nothing.status).toBe(3)
    expect(nothing.stdout).toContain('ECONNREFUSED')
    const wrong = npx('doctor', '--nope')
    expect(wrong.status).toBe(2)
    expect(wrong.stderr).toContain("'--nope'")
  })

  test('is nothing that the library loads, and has no types', () => {
    expect(packed.filter((file) => /extras\/cli\/.*\.d\.ts$|cjs\/extras\/cli/.test(file))).toEqual(
      [],
    )
    write('loads/package.json', '{ "type": "module" }')
    write('loads/main.js', "import 'holdfast'\nimport 'holdfast/testing'\nconsole.log('loaded')\n")
    const program = join(dir, 'node_modules/holdfast/dist/esm/extras')
    renameSync(program, `${program}-away`)
    try {
      expect(run(join(dir, 'loads'), process.execPath, 'main.js')).toBe('loaded\n')
      expect(npx('--version').status).not.toBe(0)
    } finally {
      renameSync(`${program}-away`, program)
    }
  })
})

test.each([
  ['an ES module', 'ts-esm', 'module', 'nodenext'],
  ['a CommonJS module', 'ts-cjs', 'commonjs', 'nodenext'],
  ['a bundled module', 'ts-bundler', 'module', 'bundler'],
])('TypeScript accepts the documented use in %s', (_, folder, type, moduleResolution) => {
  write(`${folder}/package.json`, JSON.stringify({ type }))
  write(
    `${folder}/tsconfig.json`,
    JSON.stringify({
      compilerOptions: {
        target: 'es2022',
        lib: ['es2023', 'esnext.disposable'],
        module: moduleResolution === 'bundler' ? 'esnext' : 'nodenext',
        moduleResolution,
        strict: true,
        exactOptionalPropertyTypes: true,
        noEmit: true,
        typeRoots: [join(root, 'node_modules/@types')],
        types: ['node'],
      },
      include: ['*.ts'],
    }),
  )
  for (const file of ['sample.ts', 'projects/fakes.ts']) {
    write(`${folder}/${basename(file)}`, readFileSync(join(__dirname, file), 'utf8'))
  }
  run(join(dir, folder), process.execPath, join(root, 'node_modules/typescript/bin/tsc'))
})

test('the tarball carries what the package needs, and nothing else', () => {
  const folders = new Set(packed.map((file) => file.replace(/(^dist\/[^/]+|^[^/]+).*/, '$1')))
  const metadata = ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json']
  expect([...folders].filter((name) => !metadata.includes(name)).sort()).toEqual([
    'dist/cjs',
    'dist/esm',
    'lua',
  ])
  // Everything that one build has, the other has as well: the worker's file is loaded by its path.
  // But the program, which nobody imports.
  const build = (name: string) =>
    packed
      .filter((file) => file.startsWith(`dist/${name}/`) && /\.(js|d\.ts)$/.test(file))
      .filter((file) => !file.includes('/extras/cli/'))
      .map((file) => file.slice(`dist/${name}/`.length))
      .sort()
  expect(build('cjs')).toEqual(build('esm'))
})
