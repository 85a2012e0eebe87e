// Writes one module for each folder of lua/, with the names, SHA-1 and texts of its scripts. No client runs the scripts
// of `admin`, so only their texts go into a module of the tools.
//
//   node scripts/build-lua.mjs [--check] [<folder of folders of scripts> <folder of modules>]
//
// The header comment of a script declares its keys, arguments and replies. The program checks the header against the
// code. CONTRIBUTING.md, "Adding a script", has the syntax of a header.
//
// The program replaces a line `-- include: parts/<file>` by this file, which several scripts share.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { readHeader } from './lua-header.mjs'
import { moduleOf, sourcesOf } from './lua-module.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const { values: options, positionals } = parseArgs({
  options: { check: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const [luaDir = join(root, 'lua'), moduleDir = join(root, 'src/servers/redis/scripts')] =
  positionals
const parts = 'parts'
const sourcesOnly = { admin: join(root, 'tools/inspection/redis/scripts.generated.ts') }

const problems = []
const folders = readdirSync(luaDir, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== parts)
  .map(({ name }) => name)
  .sort()
const read = new Map(folders.map((folder) => [folder, readFolder(folder)]))
if (![...read.values()].some((scripts) => scripts.length > 0)) {
  problems.push(`${luaDir}: there is no folder here with a script in it`)
}
for (const file of readdirSync(luaDir).filter((name) => name.endsWith('.lua'))) {
  problems.push(`${relative(root, join(luaDir, file))}: a script belongs in a folder`)
}

const named = new Map([...read.values()].flat().map((script) => [script?.name, script]))
for (const script of named.values()) checkSame(script)

if (problems.length > 0) fail(problems.join('\n'))
const modules = new Set()
for (const [folder, scripts] of read) {
  const path = sourcesOnly[folder] ?? join(moduleDir, `${folder}.generated.ts`)
  const text = folder in sourcesOnly ? sourcesOf(scripts) : moduleOf(scripts, named)
  modules.add(path)
  write(path, text, `(${scripts.length} scripts)`)
}
for (const file of readdirSync(moduleDir)) {
  const path = join(moduleDir, file)
  if (file.endsWith('.generated.ts') && !modules.has(path)) remove(path)
}

function readFolder(folder) {
  return readdirSync(join(luaDir, folder))
    .filter((file) => file.endsWith('.lua'))
    .sort()
    .map((file) => readScript(folder, join(luaDir, folder, file)))
}

function write(path, text, what) {
  const name = relative(root, path)
  if (readIfPresent(path) === text) {
    console.log(`${name} is up to date ${what}.`)
  } else if (options.check) {
    fail(`${name} is stale: run \`npm run lua\` and commit the result.`)
  } else {
    writeFileSync(path, text)
    console.log(`${name} written ${what}.`)
  }
}

function remove(path) {
  const name = relative(root, path)
  if (options.check) fail(`${name} has no folder any more: run \`npm run lua\`.`)
  rmSync(path)
  console.log(`${name} removed: it has no folder any more.`)
}

function readScript(folder, path) {
  const source = readFileSync(path, 'utf8')
  const report = (line, text) => problems.push(`${relative(root, path)}:${line}: ${text}`)

  const [header] = /^--\[\[\n[\s\S]*?\n\]\]\n/.exec(source) ?? []
  if (header === undefined) {
    report(
      1,
      'the file must begin with a header comment, from "--[[" to "]]", each on its own line',
    )
    return undefined
  }
  const lines = header.split('\n')
  if (!/^ {2}\S/.test(lines[1])) report(2, 'the header must begin with a sentence, indented by two')
  const returns = lines.indexOf('  Returns')
  if (returns === -1 || !/^ {4}\S/.test(lines[returns + 1])) {
    report(
      lines.length - 1,
      'the header must end with "Returns" and what it returns, indented by four',
    )
  }

  const { declarations, replies } = readHeader(lines, report)
  // Comments and strings become spaces, so the line numbers stay the same as in the file.
  const code = withoutCommentsAndStrings(source)
  for (const table of ['KEYS', 'ARGV']) {
    const declared = declarations.filter((one) => one.table === table)
    checkOrder(declared, report)
    checkUses(table, declared, code, report)
  }
  checkNames(declarations, report)

  const declared = (table) => declarations.filter((one) => one.table === table)
  const whole = withParts(source, report)
  checkReplies(replies, declared('ARGV'), whole.source, report)
  return {
    name: `${folder}/${basename(path, '.lua')}`,
    constant: basename(path, '.lua').replace(/-(.)/g, (_, letter) => letter.toUpperCase()),
    keys: declared('KEYS'),
    args: declared('ARGV'),
    replies,
    report,
    ...whole,
  }
}

function withParts(source, report) {
  const whole = source.replace(/^-- include: (\S+)$/gm, (line, part) => {
    const text = readIfPresent(join(luaDir, part))
    if (text === undefined) report(1, `"${line}" names a file that is not there`)
    return text?.trimEnd()
  })
  const sent = withoutComments(whole)
  return { sha1: createHash('sha1').update(sent).digest('hex'), source: whole, sent }
}

/** Servers get and store a script without comments. No string in our scripts has a line that begins like a comment. */
function withoutComments(source) {
  return source
    .replace(/^--\[\[\n[\s\S]*?\n\]\]\n/, '')
    .replace(/^ *--(?!\[).*\n/gm, '')
    .replace(/^\n+/gm, '')
}

/** Checks that the indexes are 1, 2, 3 and so on, and that only the last index is `*`. */
function checkOrder(declared, report) {
  for (const [i, { table, index, line }] of declared.entries()) {
    if (index === '*' ? i !== declared.length - 1 : index !== String(i + 1)) {
      const expected = index === '*' ? `${table}[*] last` : `${table}[${i + 1}]`
      report(line, `${table}[${index}] is out of order: expected ${expected} here`)
    }
  }
}

function checkUses(table, declared, code, report) {
  const literal = new Set()
  let whole = false
  for (const [i, text] of code.split('\n').entries()) {
    for (const { 1: index } of text.matchAll(
      new RegExp(`\\b${table}\\b(?:\\s*\\[\\s*(\\d+)\\s*\\])?`, 'g'),
    )) {
      // A computed index, `#KEYS` or the table itself: these need the declaration with a star.
      const wanted = index ?? '*'
      if (index === undefined) whole = true
      else literal.add(index)
      if (!declared.some((one) => one.index === wanted)) {
        report(i + 1, `${table}[${wanted}] is used but not declared in the header`)
      }
    }
  }
  for (const { index, name, line } of declared) {
    if (index === '*' ? !whole : !literal.has(index)) {
      report(line, `${table}[${index}] "${name}" is declared in the header but not used`)
    }
  }
}

function checkNames(declarations, report) {
  for (const [i, { name, line }] of declarations.entries()) {
    const first = declarations.findIndex((one) => one.name === name)
    if (first !== i) report(line, `the name "${name}" is taken by line ${declarations[first].line}`)
  }
}

/**
 * Checks that the code has each declared tag. A script with `notAfterUs` must declare the answer 'late' in one form,
 * because the code that runs all scripts reads this answer.
 */
function checkReplies(replies, args, source, report) {
  if (replies === null) return
  const code = source.replace(/^--\[\[[\s\S]*?\n\]\]\n/, '')
  const tags = replies.flatMap(({ tag }) => tag ?? [])
  for (const tag of tags) {
    if (!code.includes(`'${tag}'`))
      report(1, `the answer '${tag}' is declared in the header but not given`)
  }
  const late = replies.find(({ tag }) => tag === 'late')
  const isTimed = args.some(({ name }) => name === 'notAfterUs')
  const isSame = replies.some(({ sameAs }) => sameAs !== undefined)
  if (isTimed !== (late !== undefined) && !isSame) {
    report(1, `"notAfterUs" and the answer { 'late', serverTimeUs >= 1 } go together`)
  }
  if (late !== undefined && late.fields.map(({ name }) => name).join() !== 'serverTimeUs') {
    report(1, `the answer 'late' reads { 'late', serverTimeUs >= 1 }`)
  }
}

/** Checks that a script declares its answers if the header of another script refers to them. */
function checkSame(script) {
  for (const { sameAs, line } of script?.replies ?? []) {
    if (sameAs !== undefined && (named.get(sameAs)?.replies ?? null) === null) {
      script.report(line, `"${sameAs}" is no script whose answers are declared`)
    }
  }
}

function withoutCommentsAndStrings(source) {
  const tokens = [
    /--\[(?<a>=*)\[[\s\S]*?\]\k<a>\]/, // a long comment
    /--[^\n]*/,
    /\[(?<b>=*)\[[\s\S]*?\]\k<b>\]/, // a long string
    /'(?:\\[\s\S]|[^'\\\n])*'/,
    /"(?:\\[\s\S]|[^"\\\n])*"/,
  ]
  const any = new RegExp(tokens.map((token) => token.source).join('|'), 'g')
  return source.replace(any, (text) => text.replace(/[^\n]/g, ' '))
}

function readIfPresent(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}

function fail(message) {
  console.error(message)
  process.exit(1)
}
