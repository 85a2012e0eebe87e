#!/usr/bin/env node
// Builds an earlier version of the library into one file, test/upgrade/previous.mjs.gz. The tests of rolling upgrades
// run this file beside the current version. Only this program needs the history of Git.
//
//   node scripts/previous-version.mjs <commit>   writes the file
//   node scripts/previous-version.mjs --check    builds the commit that the file names again, and compares the results
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { entryOf } from './lib/entry-of.mjs'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const FILE = join(ROOT, 'test/upgrade/previous.mjs.gz')

const [wanted] = process.argv.slice(2)
if (wanted === undefined) {
  console.error('usage: node scripts/previous-version.mjs <commit> | --check')
  process.exit(2)
}
const packed = wanted === '--check' ? gunzipSync(readFileSync(FILE)).toString() : undefined
const commit = packed === undefined ? wanted : /^\/\/ (\w+)/.exec(packed)?.[1]
const id = execFileSync('git', ['rev-parse', '--short=12', `${commit}^{commit}`], { cwd: ROOT })
const text = await build(id.toString().trim())
if (packed === undefined) {
  mkdirSync(join(ROOT, 'test/upgrade'), { recursive: true })
  writeFileSync(FILE, gzipSync(text, { level: 9 }))
  console.log(`${FILE}: ${text.length} characters`)
} else if (packed === text) {
  console.log(`${FILE} is what ${commit} builds.`)
} else {
  console.error(`${FILE} is not what ${commit} builds with these tools.`)
  process.exitCode = 1
}

/** @param {string} commit */
async function build(commit) {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-previous-'))
  try {
    const tree = execFileSync('git', ['archive', commit], { cwd: ROOT, maxBuffer: 1e9 })
    execFileSync('tar', ['x'], { cwd: folder, input: tree })
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
    execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: folder, stdio: 'inherit' })
    const bundle = await rolldown({
      cwd: folder,
      input: entryOf(folder),
      external: ['ioredis'],
      platform: 'node',
    })
    const { output } = await bundle.generate({ format: 'esm', minify: true })
    return `// ${commit}: built by scripts/previous-version.mjs\n${output[0].code}`
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
