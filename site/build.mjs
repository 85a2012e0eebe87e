// Builds the site: the pages, the API reference, and the files that they need. The build fails if a link or an anchor
// leads nowhere, or if TypeDoc does not understand a docstring.
import { copyFileSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { build } from 'vitepress'
import { API, writeApi } from './lib/api.mjs'
import { faultsOf } from './lib/check.mjs'
import { deadLinks, files, output, pages, read, root, sources, withoutSteps } from './lib/pages.mjs'

const base = process.env.SITE_BASE ?? '/'
const startedAt = performance.now()

stopFor(deadLinks(), 'dead links')
rmSync(sources, { recursive: true, force: true })
rmSync(output, { recursive: true, force: true })

for (const [path, address] of pages) {
  const target = join(sources, address)
  mkdirSync(dirname(target), { recursive: true })
  writeFileSync(target, withoutSteps(read(path)))
}
await writeApi()

const require = createRequire(import.meta.url)
mkdirSync(join(sources, 'public'), { recursive: true })
copyFileSync(
  join(dirname(require.resolve('@mermaid-js/tiny/package.json')), 'dist/mermaid.tiny.js'),
  join(sources, 'public/mermaid.js'),
)

for (const [address, path] of files) {
  mkdirSync(dirname(join(sources, 'public', address)), { recursive: true })
  cpSync(join(root, path), join(sources, 'public', address))
}

await build(join(root, 'site'))
stopFor(faultsOf(output, base), 'faults in its pages')
const seconds = Math.round((performance.now() - startedAt) / 1_000)
console.log(
  `The site is in ${relative(process.cwd(), output) || output}: ${pages.size} pages, and the API in ${API}/ (${seconds} s).`,
)

function stopFor(faults, what) {
  if (faults.length === 0) return
  console.error(
    `The site has ${faults.length} ${what}:\n${faults.map((fault) => `  ${fault}`).join('\n')}`,
  )
  process.exit(1)
}
