// The package.json of the tarball has no scripts and no development dependencies: an installation runs nothing of
// Holdfast, and no package manager asks for consent. npm runs this before and after it packs.
//
//   node scripts/packed-manifest.mjs before|after
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const manifest = join(root, 'package.json')
const kept = join(root, '.cache/package.json')

const LEFT_OUT = ['scripts', 'devDependencies', 'overrides']

function before() {
  // npm finds no `prepare` in the new package.json, and so does not build.
  const { status } = spawnSync(process.execPath, [join(root, 'scripts/build.mjs')], {
    stdio: ['ignore', 2, 2], // `npm pack --json` prints JSON alone.
  })
  if (status !== 0) process.exit(status ?? 1)
  const text = readFileSync(manifest, 'utf8')
  const packed = JSON.parse(text)
  // A run that was ended in between has left the short one.
  if (packed.scripts !== undefined) {
    mkdirSync(join(root, '.cache'), { recursive: true })
    writeFileSync(kept, text)
  }
  for (const name of LEFT_OUT) delete packed[name]
  writeFileSync(manifest, `${JSON.stringify(packed, null, 2)}\n`)
}

function after() {
  if (existsSync(kept)) renameSync(kept, manifest)
}

if (argv[2] === 'before') before()
else after()
