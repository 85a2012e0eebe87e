// Measures the size of the core: all JavaScript that `import 'holdfast'` loads. It packs the code with gzip in one
// piece, as it is, and also without comments and minified, as bundlers do.
// Run `npm run build`, then `node bench/probes/package/core-size.mjs [folder of another build ...]`. The program
// compares each build with the first build, for example a build of an earlier commit.
import { readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { minifySync } from '@swc/core'
import { entryOf } from '../../../scripts/lib/entry-of.mjs'
import { loadedBy } from '../../support/loaded-by.mjs'

function sizeOf(folder) {
  const entry = entryOf(folder)
  const root = dirname(entry)
  const files = [...loadedBy(entry)].sort()
  const code = files.map((file) => readFileSync(file))
  const all = Buffer.concat(code)
  const small = Buffer.concat(
    code.map((one) => Buffer.from(minifySync(one.toString(), { module: true }).code)),
  )
  return {
    files: new Map(files.map((file, n) => [relative(root, file), code[n].length])),
    bytes: all.length,
    packed: gzipSync(all, { level: 9 }).length,
    minified: gzipSync(small, { level: 9 }).length,
  }
}

const here = resolve(import.meta.dirname, '../../..')
const folders = [...process.argv.slice(2), here]
const [first, ...others] = folders.map((folder) => ({ folder, ...sizeOf(folder) }))
const kB = (bytes) => `${(bytes / 1_000).toFixed(2)} kB`
const line = ({ folder, files, bytes, packed, minified }) =>
  `${folder}: ${files.size} files, ${kB(bytes)}; packed ${kB(packed)}, minified and packed ${kB(minified)}`
console.log(line(first))
for (const one of others) {
  console.log(line(one))
  const more = [one.packed - first.packed, one.minified - first.minified].map(kB)
  console.log(`  more: packed ${more[0]}, minified and packed ${more[1]}`)
  const grown = [...one.files]
    .map(([file, bytes]) => [file, bytes - (first.files.get(file) ?? 0)])
    .filter(([, bytes]) => bytes !== 0)
    .sort(([, a], [, b]) => b - a)
  for (const [file, bytes] of grown) console.log(`  ${bytes} B  ${file}`)
}
