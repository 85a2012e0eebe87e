// Writes docs/reference/acl.md: the smallest rights of a login for each kind of lock and each tool.
//
//   node scripts/acl.mjs [--check]
//
// With --check it writes nothing, and fails if the page is out of date.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { KINDS, TOOLS, wordsOf } from './lib/acl-needs.mjs'

const NAME = 'docs/reference/acl.md'
const page = fileURLToPath(new URL(`../${NAME}`, import.meta.url))
const { values: options } = parseArgs({ options: { check: { type: 'boolean', default: false } } })

const WIDTH = 110
const quoted = (word) => (/^\+[\w]+$/.test(word) ? word : `'${word}'`)

/** One command for a shell, split into short lines. */
function command(user, groups) {
  const lines = [`redis-cli ACL SETUSER ${user} reset resetchannels on '>secret'`]
  for (const words of groups) {
    let line = ''
    for (const word of words.map(quoted)) {
      if (line.length + word.length > WIDTH) {
        lines.push(line)
        line = ''
      }
      line += line === '' ? word : ` ${word}`
    }
    if (line !== '') lines.push(line)
  }
  return ['```sh', lines.join(' \\\n  '), '```'].join('\n')
}

/** One section for all kinds or tools that need the same rights. */
function sections(user, all) {
  const titles = new Map()
  for (const needs of all) {
    const list = command(user, wordsOf(needs))
    titles.set(list, [...(titles.get(list) ?? []), `\`${needs.title}\``])
  }
  return [...titles].map(([list, names]) => `### ${names.join(', ')}\n\n${list}`).join('\n\n')
}

const current = readFileSync(page, 'utf8')
const between = (text, name, body) =>
  text.replace(
    new RegExp(`(<!-- ${name} -->\n)[\\s\\S]*?(<!-- end of ${name} -->)`),
    (_, start, end) => `${start}\n${body}\n\n${end}`,
  )
const text = between(
  between(current, 'kinds', sections('locks', KINDS)),
  'tools',
  sections('ops', TOOLS),
)
if (text === current) {
  console.log(`${NAME} is up to date.`)
} else if (options.check) {
  console.error(`${NAME} is stale: run \`npm run acl\` and commit the result.`)
  process.exitCode = 1
} else {
  writeFileSync(page, text)
  console.log(`${NAME} written.`)
}
