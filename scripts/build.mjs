// Compiles src/ and tools/, and bundles the modules of each entry point of the package, as ES modules and as CommonJS.
// Bundles are few files, so a process that loads them starts sooner. The type declarations are not bundled. Programs of
// this repository import inner modules from .cache/modules/.
//
//   node scripts/build.mjs                 builds
//   node scripts/build.mjs --if-changed    builds, unless dist/ is from the same sources
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
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
const modules = join(root, '.cache', 'modules')
const sources = digestOfSources()
if (process.argv.includes('--if-changed') && isBuiltFrom(sources)) process.exit()

const entryPoints = readEntryPoints()
/** The folder for code that several entry points share. src/ uses this name to leave its lines out of a stack. */
const SHARED = 'holdfast-shared/'
/** This module stays a separate file beside the worker program, because it finds the program by its own path. */
const WORKER_URL = 'src/servers/redis/thread/worker-url'
rmSync(stamp, { force: true })
rmSync(modules, { recursive: true, force: true })
rmSync(`${root}/dist`, { recursive: true, force: true })
compile()
pruneTypes()
cpSync(`${root}/dist/esm`, `${root}/dist/cjs`, { recursive: true })
await bundle('esm', 'import')
await bundle('cjs', 'require')

chmodSync(`${root}/dist/esm/tools/cli/main.js`, 0o755)
// The package is `type: module`. This file makes dist/cjs/ the exception.
writeFileSync(`${root}/dist/cjs/package.json`, '{ "type": "commonjs" }\n')
mkdirSync(join(root, '.cache'), { recursive: true })
writeFileSync(stamp, sources)

/** The entry points in package.json: for `import`, for `require`, and their type declarations. */
function readEntryPoints() {
  const { exports, bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const ways = Object.values(exports).filter((entry) => typeof entry === 'object')
  return {
    import: [
      ...ways.map((entry) => entry.import.default),
      ...Object.values(bin).map((file) => `./${file}`),
    ],
    require: ways.map((entry) => entry.require.default),
    types: ways.map((entry) => entry.import.types),
  }
}

/** @param {string} digest */
function isBuiltFrom(digest) {
  const isThere =
    existsSync(`${root}/dist/esm/src/index.js`) && existsSync(modules) && existsSync(stamp)
  return isThere && readFileSync(stamp, 'utf8') === digest
}

/** The digest of all files that decide what the build writes. */
function digestOfSources() {
  const code = filesIn(root, ['src', 'tools']).filter((file) => file.endsWith('.ts'))
  const others = ['package.json', 'package-lock.json', 'scripts/build.mjs', 'tsconfig.json']
  return digestOf(root, [...code, ...others])
}

/** Writes the declarations to dist/esm/, and the code to .cache/modules/. */
function compile() {
  const folders = ['--outDir', modules, '--declarationDir', `${root}/dist/esm`]
  const { status } = spawnSync(process.execPath, [tsc, '--project', 'tsconfig.json', ...folders], {
    cwd: root,
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(status ?? 1)
}

/**
 * Writes one file per entry point, and files with what several entry points share.
 *
 * @param {'esm' | 'cjs'} format
 * @param {'import' | 'require'} condition the condition of `exports` in package.json
 */
async function bundle(format, condition) {
  const dist = `dist/${format}/`
  const entries = entryPoints[condition].map((file) =>
    file.slice(`./${dist}`.length, -'.js'.length),
  )
  // Imported here, because the check at the top explains a missing installation better than a failed import.
  const { rolldown } = await import('rolldown')
  const bundled = await rolldown({
    // The bundles name each module by its path from here.
    cwd: modules,
    input: Object.fromEntries(entries.map((entry) => [entry, join(modules, `${entry}.js`)])),
    platform: 'node',
    // All packages, and all modules of Node.js.
    external: /^(?!\.{0,2}\/|[A-Za-z]:[\\/])/,
    plugins: [{ name: 'one-byte', generateBundle: oneBytePerCharacter }],
  })
  await bundled.write({
    dir: join(root, dist),
    format,
    esModule: true,
    entryFileNames: '[name].js',
    minifyInternalExports: false,
    chunkFileNames: ({ name }) => `${name === WORKER_URL ? '' : SHARED}[name].js`,
    codeSplitting: { groups: [{ name: WORKER_URL, test: /worker-url\.js$/ }] },
  })
  await bundled.close()
}

/**
 * Escapes characters above U+00FF. If a file has such a character, V8 stores the whole file with two bytes per
 * character.
 *
 * @param {unknown} _options
 * @param {import('rolldown').OutputBundle} output
 */
function oneBytePerCharacter(_options, output) {
  for (const chunk of Object.values(output)) {
    if (chunk.type !== 'chunk') continue
    chunk.code = chunk.code.replace(
      /[\u0100-\uffff]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    )
  }
}

/** Removes the declarations that the public types do not lead to. */
function pruneTypes() {
  const todo = entryPoints.types.map((file) => resolve(root, file))
  const needed = new Set()
  for (let file = todo.pop(); file !== undefined; file = todo.pop()) {
    if (needed.has(file)) continue
    needed.add(file)
    for (const target of importsOf(readFileSync(file, 'utf8')))
      todo.push(resolve(file, '..', target).replace(/\.[jt]s$/, '.d.ts'))
  }
  const folder = join(root, 'dist', 'esm')
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const file = join(folder, name)
    if (name.endsWith('.d.ts') && !needed.has(file)) rmSync(file)
  }
  removeEmptyFolders(folder)
}

/** The files of this package that a declaration file names. */
function importsOf(code) {
  const pattern = /(?:\bfrom|\bimport|\bimport\()\s*['"](\.{1,2}\/[^'"]+\.[jt]s)['"]/g
  return [...code.matchAll(pattern)].map(([, target]) => target)
}

function removeEmptyFolders(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) removeEmptyFolders(join(folder, entry.name))
  }
  if (readdirSync(folder).length === 0) rmSync(folder, { recursive: true })
}
