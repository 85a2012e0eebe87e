// Quotes the headers of the scripts of lua/ in lua/README.md, word for word.
//
//   node scripts/quote-lua-headers.mjs [--check] [<folder of scripts> <page>]
//
// With --check it writes nothing, and fails if the page is out of date.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('..', import.meta.url))
const { values: options, positionals } = parseArgs({
  options: { check: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const [luaDir = join(root, 'lua'), page = join(luaDir, 'README.md')] = positionals

const MARK = '<!-- headers -->\n'

const scripts = readdirSync(luaDir, { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => file.endsWith('.lua') && !file.startsWith('parts/'))
  .map((file) => file.slice(0, -'.lua'.length))
  .sort()

/** The section of one script. */
function quote(name) {
  const source = readFileSync(join(luaDir, `${name}.lua`), 'utf8')
  const header = /^--\[\[\n([\s\S]*?)\n\]\]/.exec(source)[1]
  return `\n## \`${name}\`\n\n\`\`\`text\n${header.replace(/^ {2}/gm, '')}\n\`\`\`\n`
}

const current = readFileSync(page, 'utf8')
const [intro] = current.split(MARK)
const quoted = `${intro}${MARK}${scripts.map(quote).join('')}`
if (quoted === current) {
  console.log(`${relative(root, page)} is up to date.`)
} else if (options.check) {
  console.error(`${relative(root, page)} is stale: run \`npm run lua\` and commit the result.`)
  process.exitCode = 1
} else {
  writeFileSync(page, quoted)
  console.log(`${relative(root, page)} written.`)
}
