// Quotes the headers of lua/*.lua in docs/reference/scripts.md, word for word.
//
//   node scripts/quote-lua-headers.mjs [--check] [<folder of scripts> <page>]
//
// With --check it writes nothing, and fails where the page is out of date.
import { readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('..', import.meta.url))
const { values: options, positionals } = parseArgs({
  options: { check: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const [luaDir = join(root, 'lua'), page = join(root, 'docs/reference/scripts.md')] = positionals

const current = readFileSync(page, 'utf8')
const quoted = current.replace(/(## `([\w-]+)`\n\n```text\n)[\s\S]*?\n```/g, (_, heading, name) => {
  const source = readFileSync(join(luaDir, `${name}.lua`), 'utf8')
  const header = /^--\[\[\n([\s\S]*?)\n\]\]/.exec(source)[1]
  return `${heading}${header.replace(/^ {2}/gm, '')}\n\`\`\``
})
if (quoted === current) {
  console.log(`${relative(root, page)} is up to date.`)
} else if (options.check) {
  console.error(`${relative(root, page)} is stale: run \`npm run lua\` and commit the result.`)
  process.exitCode = 1
} else {
  writeFileSync(page, quoted)
  console.log(`${relative(root, page)} written.`)
}
