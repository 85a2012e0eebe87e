// Inlines lua/*.lua, with names and SHA-1, into the one module that src/ imports.
//
//   node scripts/build-lua.mjs [--check] [<folder of scripts> <module to write>]
//
// The header comment of a script is its declaration, so it is checked against the code:
//
//   --[[
//     One sentence: what the caller gets.
//
//     KEYS[1]  lock     hash: owner -> hold count
//     ARGV[1]  leaseMs  in milliseconds
//     ARGV[*]  owners   all the arguments that follow; KEYS[*] is the same for keys
//
//     Returns
//       one line or more
//   ]]
//
// A line `-- include: parts/<file>` is replaced by that file, which several scripts share.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('..', import.meta.url))
const { values: options, positionals } = parseArgs({
  options: { check: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const [
  luaDir = join(root, 'lua'),
  moduleFile = join(root, 'src/servers/redis/scripts.generated.ts'),
] = positionals

const problems = []
const scripts = readdirSync(luaDir)
  .filter((file) => file.endsWith('.lua'))
  .sort()
  .map((file) => readScript(join(luaDir, file)))
if (scripts.length === 0) problems.push(`${luaDir}: there is no script here`)

if (problems.length > 0) fail(problems.join('\n'))
const module = render(scripts)
const current = readIfPresent(moduleFile)
if (current === module) {
  console.log(`${relative(root, moduleFile)} is up to date (${scripts.length} scripts).`)
} else if (options.check) {
  fail(`${relative(root, moduleFile)} is stale: run \`npm run lua\` and commit the result.`)
} else {
  writeFileSync(moduleFile, module)
  console.log(`${relative(root, moduleFile)} written (${scripts.length} scripts).`)
}

function readScript(path) {
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

  const declarations = readDeclarations(lines, report)
  // Blanked, not cut, so that the line numbers below are those of the file.
  const code = withoutCommentsAndStrings(source)
  for (const table of ['KEYS', 'ARGV']) {
    const declared = declarations.filter((one) => one.table === table)
    checkOrder(declared, report)
    checkUses(table, declared, code, report)
  }
  checkNames(declarations, report)

  const named = (table) => declarations.filter((one) => one.table === table)
  return {
    name: basename(path, '.lua'),
    keys: named('KEYS').map((one) => one.name),
    args: named('ARGV').map((one) => one.name),
    ...withParts(source, report),
  }
}

function withParts(source, report) {
  const whole = source.replace(/^-- include: (\S+)$/gm, (line, part) => {
    const text = readIfPresent(join(luaDir, part))
    if (text === undefined) report(1, `"${line}" names a file that is not there`)
    return text?.trimEnd()
  })
  return { sha1: createHash('sha1').update(whole).digest('hex'), source: whole }
}

function readDeclarations(lines, report) {
  const declarations = []
  for (const [i, text] of lines.entries()) {
    if (!/^\s*(KEYS|ARGV)\b/.test(text)) continue
    const match = /^ {2}(KEYS|ARGV)\[([1-9]\d*|\*)\] +([a-z][A-Za-z0-9]*) {2,}\S/.exec(text)
    if (match === null) {
      report(i + 1, 'a declaration reads "KEYS[1]  camelCaseName  description", indented by two')
      continue
    }
    const [, table, index, name] = match
    declarations.push({ table, index, name, line: i + 1 })
  }
  return declarations
}

/** 1, 2, 3 and so on, in this order; `*` only as the last. */
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

function render(all) {
  const camelCase = (name) => name.replace(/-(.)/g, (_, letter) => letter.toUpperCase())
  const exported = all.map(({ name, ...rest }) => {
    const fields = Object.entries({ name, ...rest }).map(
      ([key, value]) => `  ${key}: ${JSON.stringify(value)},\n`,
    )
    return `\nexport const ${camelCase(name)}: Script = {\n${fields.join('')}}\n`
  })
  const head = '// Generated from lua/*.lua by `npm run lua`. Do not edit.\n'
  return `${head}import type { Script } from './script.ts'\n${exported.join('')}`
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
