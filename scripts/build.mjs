// Compiles src/ and tools/ twice, to ES modules and to CommonJS, each with its type declarations. Of both it keeps what an
// entry point of the package leads to: a file of types alone has no code, and most internals have no public types.
//
//   node scripts/build.mjs                 builds
//   node scripts/build.mjs --if-changed    builds, unless dist/ is from the same sources
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { digestOf, filesIn } from './lib/digest-of.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const tsc = `${root}/node_modules/typescript/bin/tsc`

if (!existsSync(tsc)) {
  console.error('dist/ is built with the development dependencies: run npm ci, without --omit=dev.')
  process.exit(1)
}
// Outside dist/, because the package has all of dist/.
const stamp = join(root, '.cache', 'built-from')
const sources = digestOfSources()
if (process.argv.includes('--if-changed') && isBuiltFrom(sources)) process.exit()

rmSync(stamp, { force: true })
rmSync(`${root}/dist`, { recursive: true, force: true })
compile('tsconfig.json')
compile('tsconfig.cjs.json')

chmodSync(`${root}/dist/esm/tools/cli/main.js`, 0o755)

// The package is `type: module`; this marks one folder of it as the exception.
writeFileSync(`${root}/dist/cjs/package.json`, '{ "type": "commonjs" }\n')

// `import.meta` is a syntax error in CommonJS, and no expression names the current file in both
// module systems. So the one file that needs it has a hand-written CommonJS counterpart.
const workerUrl = `${root}/dist/cjs/src/servers/redis/thread/worker-url.js`
if (existsSync(workerUrl)) {
  writeFileSync(
    workerUrl,
    `"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
const { join } = require("node:path");
const { pathToFileURL } = require("node:url");
exports.workerUrl = () => pathToFileURL(join(__dirname, "renewal-worker.js"));
`,
  )
}

prune()
mkdirSync(join(root, '.cache'), { recursive: true })
writeFileSync(stamp, sources)

/** @param {string} digest */
function isBuiltFrom(digest) {
  const isThere = existsSync(`${root}/dist/esm/src/index.js`) && existsSync(stamp)
  return isThere && readFileSync(stamp, 'utf8') === digest
}

/** The digest of all files that decide what the build writes. */
function digestOfSources() {
  const code = filesIn(root, ['src', 'tools']).filter((file) => file.endsWith('.ts'))
  const others = [
    'package.json',
    'package-lock.json',
    'scripts/build.mjs',
    'tsconfig.json',
    'tsconfig.cjs.json',
  ]
  return digestOf(root, [...code, ...others])
}

/** Removes the files of both builds that no entry point imports, directly or not. */
function prune() {
  const { exports, bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const todo = [
    ...Object.values(bin),
    ...Object.values(exports).flatMap((entry) =>
      ['import', 'require'].flatMap((how) => Object.values(entry[how] ?? {})),
    ),
  ].map((file) => resolve(root, file))
  const needed = new Set()
  for (let file = todo.pop(); file !== undefined; file = todo.pop()) {
    if (needed.has(file)) continue
    needed.add(file)
    const kind = file.endsWith('.d.ts') ? '.d.ts' : '.js'
    for (const target of importsOf(readFileSync(file, 'utf8'))) {
      todo.push(resolve(file, '..', target).replace(/\.[jt]s$/, kind))
    }
  }
  for (const build of ['esm', 'cjs']) {
    const folder = join(root, 'dist', build)
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      const file = join(folder, name)
      if (/\.(js|d\.ts)$/.test(name) && !needed.has(file)) rmSync(file)
    }
    removeEmptyFolders(folder)
  }
}

/** The files of this package that the code of one of them names. */
function importsOf(code) {
  const pattern =
    /(?:\bfrom|\bimport|\bimport\(|\brequire\(|\bnew URL\()\s*['"](\.{1,2}\/[^'"]+\.[jt]s)['"]/g
  return [...code.matchAll(pattern)].map(([, target]) => target)
}

function removeEmptyFolders(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) removeEmptyFolders(join(folder, entry.name))
  }
  if (readdirSync(folder).length === 0) rmSync(folder, { recursive: true })
}

function compile(project) {
  const { status } = spawnSync(process.execPath, [tsc, '--project', project], {
    cwd: root,
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(status ?? 1)
}
