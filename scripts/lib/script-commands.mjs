// Reads what a script in lua/ does: the commands that it can call, its keys and its channels.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { readHeader } from '../lua-header.mjs'

const luaDir = fileURLToPath(new URL('../../lua/', import.meta.url))
const readLua = (file) => readFileSync(`${luaDir}${file}`, 'utf8')

/**
 * @param {string} name such as `lock/acquire`
 * @returns {{ commands: string[], keys: string[], args: string[] }} commands in lower case; the names of keys and arguments
 * as its header has them
 */
export function readScript(name) {
  const source = readLua(`${name}.lua`)
  const [header] = /^--\[\[\n[\s\S]*?\n\]\]\n/.exec(source) ?? ['']
  const { declarations } = readHeader(header.split('\n'), (line, text) => {
    throw new Error(`lua/${name}.lua:${line}: ${text}`)
  })
  const of = (table) => declarations.filter((one) => one.table === table).map((one) => one.name)
  const whole = source
    .slice(header.length)
    .replace(/^-- include: (\S+)$/gm, (_, part) => readLua(part))
    .replace(/--[^\n]*/g, '')
  return { commands: commandsIn(reachable(whole)), keys: of('KEYS'), args: of('ARGV') }
}

/** The code that can run: a part may have functions that this script does not call. */
function reachable(code) {
  const functions = new Map()
  let running = code.replace(/^local function (\w+)\([\s\S]*?^end$/gm, (text, name) => {
    functions.set(name, [...(functions.get(name) ?? []), text])
    return ''
  })
  for (let isMore = true; isMore; ) {
    isMore = false
    for (const [name, texts] of functions) {
      if (!new RegExp(`\\b${name}\\b`).test(running)) continue
      running += texts.join('\n')
      functions.delete(name)
      isMore = true
    }
  }
  return running
}

/** The commands in the code. A variable with a command is always `publish`: PUBLISH, or SPUBLISH in a cluster. */
function commandsIn(code) {
  const called = code.matchAll(/\bredis\.p?call\(\s*('[A-Z]+'|[a-z]\w*)/g)
  const names = [...called].map(([, name]) => name.replaceAll("'", '').toLowerCase())
  // The scripts use only these subcommands of PUBSUB: NUMSUB, or SHARDNUMSUB in a cluster.
  return [...new Set(names.map((name) => (name === 'pubsub' ? 'pubsub|numsub' : name)))].sort()
}
