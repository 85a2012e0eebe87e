// The cost of the package for a project: its size, its dependencies, and the time to import it.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { median, show } from '../figures.mjs'
import { manifestOf, folder as peers } from '../libraries/peer.mjs'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const IOREDIS = pathToFileURL(createRequire(`${root}/package.json`).resolve('ioredis')).href
const REPEATS = 9

/** The time to import the package, in milliseconds, in a new process that has already loaded ioredis. */
function importMs(entry) {
  const code = `
    await import(${JSON.stringify(IOREDIS)})
    const start = performance.now()
    await import(${JSON.stringify(entry)})
    process.stdout.write(String(performance.now() - start))`
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    encoding: 'utf8',
  })
  return Number(stdout)
}

function sizesOf(folder) {
  const { stdout } = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts', folder], {
    cwd: root,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  const packed = JSON.parse(stdout)
  const [{ size, unpackedSize, entryCount }] = Array.isArray(packed)
    ? packed
    : Object.values(packed)
  return { size, unpackedSize, entryCount }
}

async function measure({ libraries, quick }) {
  const own = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'))
  const require = createRequire(`${peers}/package.json`)
  const packages = [
    { label: 'Holdfast', folder: root, manifest: own, entry: `${root}/dist/esm/src/index.js` },
    ...libraries
      .filter(({ peer }) => peer)
      .map(({ label, package: name }) => ({
        label,
        folder: `${peers}/node_modules/${name}`,
        manifest: manifestOf(name),
        entry: require.resolve(name),
      })),
  ]
  const times = packages.map(() => [])
  for (let i = 0; i < (quick ? 1 : REPEATS); i += 1) {
    for (const [j, { entry }] of packages.entries()) {
      times[j].push(importMs(pathToFileURL(entry).href))
    }
  }
  const kibibytes = (bytes) => show(bytes / 1_024, 0)
  return {
    tables: [
      {
        columns: ['package', 'import ms', 'packed KiB', 'unpacked KiB', 'files', 'dependencies'],
        rows: packages.map(({ label, folder, manifest }, i) => {
          const { size, unpackedSize, entryCount } = sizesOf(folder)
          return [
            label,
            show(median(times[i]), 1),
            kibibytes(size),
            kibibytes(unpackedSize),
            String(entryCount),
            Object.keys(manifest.dependencies ?? {}).join(', ') || 'none',
          ]
        }),
      },
    ],
  }
}

export const scenarios = [
  {
    id: 'l',
    title: 'The package',
    about:
      'The time to import the package after ioredis is loaded, and the size that `npm pack` reports.',
    measure,
  },
]
