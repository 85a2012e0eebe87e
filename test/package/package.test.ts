import { execFileSync, spawnSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, normalize, resolve } from 'node:path'
import { parsePage } from '../repo/docs/pages.ts'
import { sharedServer } from '../support/redis-server.ts'

/** A package that Jest depends on. */
const { satisfies } = require('semver') as { satisfies(version: string, range: string): boolean }

const root = resolve(__dirname, '../..')
const ioredis = process.env.HOLDFAST_IOREDIS === '5' ? 'ioredis-5' : 'ioredis'

/** A folder of small projects in which the packed tarball is installed, like in a user's project. */
let dir: string
let packed: string[]
/** The sources of a fresh clone, without a build. */
let clone: string
/** The package.json of the clone after it was packed. */
let afterPack: string

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'holdfast-package-'))
  clone = freshClone(dir)
  write('package.json', '{ "private": true }')
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'))
  const [tarball] = JSON.parse(npm(clone, 'pack', '--json', '--pack-destination', dir))
  packed = tarball.files.map((file: { path: string }) => file.path)

  afterPack = readFileSync(join(clone, 'package.json'), 'utf8')

  installFromCache(dir, `./${tarball.filename}`, `ioredis@${ioredisVersion()}`)
})

afterAll(() => rmSync(dir, { recursive: true, force: true }))

function npm(cwd: string, ...args: string[]): string {
  return run(cwd, 'npm', ...args, '--no-audit', '--no-fund', '--no-update-notifier')
}

/** Returns the exact version that is already installed, so npm finds it in its cache. */
function ioredisVersion(): string {
  const file = join(root, 'node_modules', ioredis, 'package.json')
  return JSON.parse(readFileSync(file, 'utf8')).version
}

/**
 * Installs without the network if possible, because npm waits for minutes if there is no network. npm reports a package
 * that is not in its cache in several ways, for example as a version that does not exist.
 */
function installFromCache(cwd: string, ...packages: string[]): void {
  try {
    npm(cwd, 'install', ...packages, '--offline')
  } catch {
    npm(cwd, 'install', ...packages, '--prefer-offline')
  }
}

/** Runs a program. Throws an error with its output if the program fails or does not end. */
function run(cwd: string, program: string, ...args: string[]): string {
  try {
    return execFileSync(program, args, { cwd, encoding: 'utf8', stdio: 'pipe', timeout: 110_000 })
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string }
    throw new Error(`${program} ${args.join(' ')}\n${stdout}\n${stderr}`, { cause: error })
  }
}

function freshClone(dir: string): string {
  const clone = join(dir, 'clone')
  const left = ['node_modules', 'dist', '.cache', '.git']
  cpSync(root, clone, {
    recursive: true,
    filter: (from) => !left.includes(basename(from)) && !from.includes('/java/target'),
  })
  return clone
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

test('an ES module finds the named exports, and no default export', () => {
  write('esm/package.json', '{ "type": "module" }')
  write('esm/main.js', esm)
  const names: string[] = JSON.parse(run(join(dir, 'esm'), process.execPath, 'main.js'))
  expect(names.sort()).toMatchSnapshot('exports')
  expect(names).toContain('Holdfast')
  expect(names).not.toContain('default')
})

test('CommonJS finds the same exports', () => {
  write('esm/package.json', '{ "type": "module" }')
  write('esm/main.js', esm)
  write('cjs/package.json', '{ "type": "commonjs" }')
  write('cjs/main.js', cjs)
  const names = (folder: string) =>
    JSON.parse(run(join(dir, folder), process.execPath, 'main.js')).sort()
  expect(names('cjs')).toEqual(names('esm'))
})

test('the entry point for tests has its own names in both module systems, and its process ends', () => {
  write('esm/package.json', '{ "type": "module" }')
  write('esm/testing.js', testingEsm)
  write('cjs/package.json', '{ "type": "commonjs" }')
  write('cjs/testing.js', testingCjs)
  const names = (folder: string) =>
    JSON.parse(run(join(dir, folder), process.execPath, 'testing.js')).sort()
  expect(names('esm')).toMatchSnapshot('exports')
  expect(names('cjs')).toEqual(names('esm'))
})

describe('the program `holdfast`', () => {
  const server = sharedServer()
  const npx = (...args: string[]) =>
    spawnSync('npx', ['--no-install', 'holdfast', ...args], {
      cwd: dir,
      encoding: 'utf8',
      env: { ...process.env, NODE_OPTIONS: '', REDIS_URL: server.url },
      timeout: 60_000,
    })

  test('npx finds the program, and the program checks a server', () => {
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

  test('the library does not load the program, and the program has no types', () => {
    expect(packed.filter((file) => /tools\/cli\/.*\.d\.ts$|cjs\/tools\/cli/.test(file))).toEqual([])
    write('loads/package.json', '{ "type": "module" }')
    write('loads/main.js', "import 'holdfast'\nimport 'holdfast/testing'\nconsole.log('loaded')\n")
    const program = join(dir, 'node_modules/holdfast/dist/esm/tools')
    renameSync(program, `${program}-away`)
    try {
      expect(run(join(dir, 'loads'), process.execPath, 'main.js')).toBe('loaded\n')
      expect(npx('--version').status).not.toBe(0)
    } finally {
      renameSync(`${program}-away`, program)
    }
  })
})

describe('holdfast/opentelemetry', () => {
  const loadedFrom = `console.log(JSON.stringify(Object.keys(require.cache)))`
  /** The ES modules that a process loads with this file. */
  const loadedBy = (file: string): string[] => [
    file,
    ...[...readFileSync(file, 'utf8').matchAll(/\bfrom "(\.[^"]+)"/g)].flatMap(([, target = '']) =>
      loadedBy(join(dirname(file), target)),
    ),
  ]
  /** Returns the modules from which these files were built. */
  const modulesOf = (files: string[]) =>
    [...new Set(files)]
      .filter((file) => file.includes('holdfast/dist/'))
      .flatMap((file) => [
        ...readFileSync(file, 'utf8').matchAll(/^\/\/ ((?:src|tools)\/.*\.js)$/gm),
      ])
      .map(([, module]) => module)
  const inEsm = "import { instrument } from 'holdfast/opentelemetry'\ninstrument().stop()\n"
  const inCjs = "require('holdfast/opentelemetry').instrument().stop()\n"
  const peer = () => join(dir, 'node_modules/@opentelemetry')

  beforeAll(() => {
    write('esm/package.json', '{ "type": "module" }')
    write('esm/opentelemetry.js', inEsm)
    write('cjs/package.json', '{ "type": "commonjs" }')
    write('cjs/opentelemetry.js', `${inCjs}${loadedFrom}`)
    write('cjs/core.js', `require('holdfast')\n${loadedFrom}`)
  })
  afterEach(() => rmSync(peer(), { recursive: true, force: true }))

  test('holdfast/opentelemetry works in both module systems, and loads neither the core nor ioredis', () => {
    mkdirSync(peer())
    symlinkSync(join(root, 'node_modules/@opentelemetry/api'), join(peer(), 'api'))
    expect(run(join(dir, 'esm'), process.execPath, 'opentelemetry.js')).toBe('')
    const loaded: string[] = JSON.parse(run(join(dir, 'cjs'), process.execPath, 'opentelemetry.js'))
    expect(loaded.filter((file) => file.includes('@opentelemetry/api'))).not.toEqual([])
    expect(loaded.filter((file) => file.includes('ioredis'))).toEqual([])
    const modules = modulesOf(loaded)
    expect(modules).toContain('src/observe/opentelemetry/opentelemetry.js')
    expect(modules.filter((module) => !module?.startsWith('src/observe/'))).toEqual([])
  })

  test.each(['esm', 'cjs'])('holdfast/opentelemetry names the missing package, in %s', (folder) => {
    expect(() => run(join(dir, folder), process.execPath, 'opentelemetry.js')).toThrow(
      /Cannot find (package|module) '@opentelemetry\/api'/,
    )
  })

  test('the library loads neither holdfast/opentelemetry, nor the tools, nor their peers, nor servers without scripts', () => {
    const loaded: string[] = JSON.parse(run(join(dir, 'cjs'), process.execPath, 'core.js'))
    const modules = modulesOf(loaded)
    expect(modules.length).toBeGreaterThan(50)
    const unused = /tools|\/observe\/|\/servers\/(records|memory)\/|@opentelemetry|prom-client/
    expect([...loaded, ...modules].filter((file) => file && unused.test(file))).toEqual([])
    const files = loadedBy(join(dir, 'node_modules/holdfast/dist/esm/src/index.js'))
    expect(modulesOf(files).sort()).toEqual(modules.sort())
    // Otherwise V8 stores the file with two bytes per character.
    const wide = [...files].filter((file) => /[^\0-\xff]/.test(readFileSync(file, 'utf8')))
    expect(wide).toEqual([])
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

test('each link of a packed page leads to a file in the package', () => {
  const isThere = (path: string) =>
    packed.some((file) => file === path || file.startsWith(`${path}/`))
  const linked = packed
    .filter((file) => file.endsWith('.md'))
    .flatMap((file) =>
      parsePage(file, readFileSync(join(root, file), 'utf8')).links.map(({ target }) => ({
        file,
        target,
      })),
    )
    .filter(({ target }) => !/^(https?:|#)/.test(target))
  expect(linked.length).toBeGreaterThan(50)
  const dead = linked.filter(
    ({ file, target }) => !isThere(normalize(join(dirname(file), target.replace(/#.*/, '')))),
  )
  expect(dead).toEqual([])
})

test('a build of the same sources is not repeated', () => {
  const built = join(clone, 'dist/esm/src/index.js')
  const { mtimeMs } = statSync(built)
  run(clone, process.execPath, 'scripts/build.mjs', '--if-changed')
  expect(statSync(built).mtimeMs).toBe(mtimeMs)
})

describe('an installation from git', () => {
  const git = (...args: string[]) =>
    run(clone, 'git', '-c', 'user.name=Test', '-c', 'user.email=test@localhost', ...args)

  test('npm builds the package from git, and both module systems can import it', () => {
    rmSync(join(clone, 'dist'), { recursive: true })
    rmSync(join(clone, 'node_modules'))
    // Packages that the build needs. npm would install all dependencies, which takes half a minute more.
    const manifest = JSON.parse(readFileSync(join(clone, 'package.json'), 'utf8'))
    const needed = [
      '@opentelemetry/api',
      '@types/node',
      'ioredis',
      'prom-client',
      'rolldown',
      'typescript',
    ]
    for (const name of Object.keys(manifest.devDependencies)) {
      if (!needed.includes(name)) delete manifest.devDependencies[name]
    }
    write('clone/package.json', JSON.stringify(manifest))
    git('init', '--quiet')
    git('add', '--all')
    git('commit', '--quiet', '--message', 'All of it')
    write('from-git/package.json', '{ "private": true }')
    installFromCache(join(dir, 'from-git'), `git+file://${clone}`, `ioredis@${ioredisVersion()}`)
    write('from-git/main.mjs', esm)
    write('from-git/main.cjs', cjs)
    const names = (file: string) =>
      JSON.parse(run(join(dir, 'from-git'), process.execPath, file)).sort()
    expect(names('main.mjs')).toContain('Holdfast')
    expect(names('main.cjs')).toEqual(names('main.mjs'))
  })
})

test('the build reports missing development dependencies', () => {
  const built = spawnSync(process.execPath, [
    join(freshClone(mkdtempSync(join(dir, 'bare-'))), 'scripts/build.mjs'),
  ])
  expect({ status: built.status, said: String(built.stderr) }).toEqual({
    status: 1,
    said: expect.stringContaining('run npm ci, without --omit=dev'),
  })
})

test('the tarball has what the package needs, and nothing else', () => {
  const folders = new Set(packed.map((file) => file.replace(/(^dist\/[^/]+|^[^/]+).*/, '$1')))
  expect([...folders].sort()).toEqual([
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'LICENSE',
    'README.md',
    'SECURITY.md',
    'bench',
    'dist/cjs',
    'dist/esm',
    'docs',
    'examples',
    'lua',
    'ops',
    'package.json',
    'programs',
    'sbom.cdx.json',
    'spec',
    'src',
    'test',
  ])
  const bench = packed.filter((file) => file.startsWith('bench/'))
  expect(bench.filter((file) => !/\.(md|svg)$/.test(file))).toEqual(['bench/peers/package.json'])
  // Both builds have the same entry points and types, except the program, which is an ES module. The files that several
  // entry points share differ, because the program shares some code too.
  const build = (name: string) =>
    packed
      .filter((file) => file.startsWith(`dist/${name}/`) && /\.(js|d\.ts)$/.test(file))
      .map((file) => file.slice(`dist/${name}/`.length))
      .filter((file) => !file.startsWith('holdfast-shared/'))
      .sort()
  const alone = build('esm').filter((file) => !build('cjs').includes(file))
  expect(alone).toEqual(['tools/cli/main.js'])
  expect(build('cjs').filter((file) => !build('esm').includes(file))).toEqual([])
})

/** The groups of files, each with its purpose and its maximum number of files. */
const GROUPS: [pattern: RegExp, why: string, most: number][] = [
  [/^dist\/esm\/.*\.js$/, 'the library and the program, as ES modules', 25],
  [/^dist\/cjs\/(package\.json|.*\.js)$/, 'the library for require(), Jest and older bundlers', 25],
  [/^dist\/esm\/.*\.d\.ts$/, 'types of what the entry points export, for ES modules', 130],
  [/^dist\/cjs\/.*\.d\.ts$/, 'the same for CommonJS: TypeScript takes types by module system', 130],
  [/^lua\//, 'the scripts, to read what runs on the server', 100],
  [/^docs\//, 'the pages of this version, which editors and readers without a network open', 130],
  [/^(ops|examples|bench)\//, 'files that the pages tell the reader to copy, or quote', 40],
  [/^(programs|spec|src|test)\/.*README\.md$/, 'pages that the pages about the tests link to', 6],
  [/^[^/]+$/, 'what a package has at its top', 10],
]

test('each file belongs to a group that users need, and no group is larger than its limit', () => {
  const group = (file: string) => GROUPS.findIndex(([pattern]) => pattern.test(file))
  expect(packed.filter((file) => group(file) === -1)).toEqual([])
  const counts = GROUPS.map(([, why, most], i) => {
    const count = packed.filter((file) => group(file) === i).length
    return { why, fits: count > 0 && count <= most, count }
  })
  expect(counts.filter(({ fits }) => !fits)).toEqual([])
  expect(packed.filter((file) => file.endsWith('.map'))).toEqual([])
})

test('an installation runs no script, and no dependency requires a newer Node.js', () => {
  const file = join(dir, 'node_modules/holdfast/package.json')
  const manifest = JSON.parse(readFileSync(file, 'utf8'))
  expect(manifest).toMatchObject({ name: 'holdfast', bin: {}, dependencies: {} })
  expect(Object.keys(manifest)).toEqual(expect.not.arrayContaining(['scripts', 'devDependencies']))
  // Packing did not change the package.json of the clone.
  expect(afterPack).toBe(readFileSync(join(root, 'package.json'), 'utf8'))

  const lowest = '20.19.0'
  for (const lock of ['package-lock.json', 'site/package-lock.json']) {
    const { packages } = JSON.parse(readFileSync(join(root, lock), 'utf8'))
    const newer = Object.entries<{ engines?: { node?: string }; optional?: boolean }>(packages)
      .filter(([, { engines, optional }]) => !optional && engines?.node !== undefined)
      .filter(([, { engines }]) => !satisfies(lowest, engines?.node ?? '*'))
      .map(([name, { engines }]) => `${name} ${engines?.node}`)
    expect({ lock, newer }).toEqual({ lock, newer: [] })
  }
})

describe('a release', () => {
  const complete = {
    version: '1.2.3',
    repository: { type: 'git', url: 'git+https://example.com/holdfast.git' },
    homepage: 'https://example.com/holdfast',
    bugs: 'https://example.com/holdfast/issues',
    author: 'Somebody',
  }
  const changelog = '# Changelog\n\n## Unreleased\n\n## 1.2.3\n'
  const refusals = (manifest: object, text = changelog, changed = '') => {
    const given = [manifest, text, changed].map((value) => JSON.stringify(value)).join()
    const program = `const { refusals } = await import('./scripts/release.mjs')
      console.log(JSON.stringify(refusals(${given})))`
    return JSON.parse(run(root, process.execPath, '--input-type=module', '-e', program))
  }

  test('a release is accepted if the package says where it comes from', () => {
    expect(refusals(complete)).toEqual([])
  })

  test.each(['repository', 'homepage', 'bugs', 'author'])(
    'a release is refused without %s',
    (name) => {
      expect(refusals({ ...complete, [name]: undefined })).toEqual([
        expect.stringContaining(`package.json has no "${name}"`),
      ])
    },
  )

  test('a release is refused without an entry in the changelog, or with uncommitted changes', () => {
    expect(refusals(complete, '# Changelog\n\n## Unreleased\n', ' M src/index.ts')).toEqual([
      'CHANGELOG.md has no heading "## 1.2.3": add it.',
      'The working tree has changes: commit them.',
    ])
  })
})

describe('the workflow of the hosted CI', () => {
  const file = '.github/workflows/ci.yml'

  test('the workflow runs .ci/run on the lowest Node.js', () => {
    const text = readFileSync(join(root, file), 'utf8')
    expect(text).toMatch(/^ +runs-on: ubuntu-latest$/m)
    expect(text).toMatch(/^ +node-version: 20$/m)
    expect(text).toMatch(/^ +run: .*\bbash \.ci\/run$/m)
  })

  test('the workflow has a time limit above the budget of .ci/run', () => {
    const minutes = Number(
      /timeout-minutes: (\d+)/.exec(readFileSync(join(root, file), 'utf8'))?.[1],
    )
    const budget = /budget=\$\(\((\d+) \* 60\)\)/.exec(readFileSync(join(root, '.ci/run'), 'utf8'))
    expect(minutes).toBeGreaterThan(Number(budget?.[1]))
  })
})

describe('the workflow of the long runs', () => {
  const text = readFileSync(join(root, '.github/workflows/long.yml'), 'utf8')
  const jobs = text
    .slice(text.indexOf('\njobs:\n'))
    .split(/^ {2}(?=\w+:$)/m)
    .slice(1)

  test('the workflow runs weekly and by hand, and a pipe does not hide a failure', () => {
    expect(text).toMatch(/^ {4}- cron: '\d+ \d+ \* \* \d'$/m)
    expect(text).toMatch(/^ {2}workflow_dispatch:$/m)
    expect(text).toMatch(/^ {4}shell: bash$/m)
  })

  test('each job runs a script of the package, has a time limit that GitHub allows, and keeps its report', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const commands = jobs.map((job) => /run: npm run (\w+)/.exec(job)?.[1])
    expect(commands).toEqual(['soak', 'chaos', 'model', 'mutants'])
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(commands))
    for (const job of jobs) {
      const limit = Number(/timeout-minutes: (\d+)/.exec(job)?.[1])
      const asked = Number(/--minutes (\d+)/.exec(job)?.[1] ?? 0)
      expect(limit).toBeGreaterThan(asked)
      expect(limit).toBeLessThanOrEqual(360)
      expect(job).toMatch(/uses: actions\/upload-artifact@v4\n {8}if: always\(\)/)
    }
  })
})
