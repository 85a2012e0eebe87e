// Removes the scripts and the development dependencies from the package.json of the tarball. So an installation runs no
// script of Holdfast, and no package manager asks for consent. npm runs this program before and after it packs.
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
  // The build runs here, because npm finds no `prepare` in the new package.json.
  const { status } = spawnSync(process.execPath, [join(root, 'scripts/build.mjs')], {
    stdio: ['ignore', 2, 2], // The output of `npm pack --json` must be only JSON.
  })
  if (status !== 0) process.exit(status ?? 1)
  const text = readFileSync(manifest, 'utf8')
  const packed = JSON.parse(text)
  // An interrupted run may have left the short package.json, which must not replace the stored file.
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
