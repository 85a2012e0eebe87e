// Writes the module for the scripts of one folder. The module has a binding for each script. A binding takes the keys
// and arguments by name, and reads the reply.

/** The least values of fields with a reply of PTTL: -1 for a key without a TTL, -2 for a missing key. */
const [FOREVER, GONE] = ['-1', '-2']

const HEAD = '// Generated from the headers of lua/ by `npm run lua`. Do not edit.\n'

/** @param named the scripts of all folders, by their names */
export function moduleOf(scripts, named) {
  const body = scripts.map((script) => `\n${bindingOf(script, named)}`)
  const text = body.join('')
  const helpers = [
    'digits',
    'flag',
    'listOf',
    'odd',
    'pairs',
    'remaining',
    'remainingOrNone',
    'sized',
    'text',
    'ttlMs',
    'whole',
    'wholeOrNone',
  ]
  const used = helpers.filter((name) => new RegExp(`[ (]${name}\\(`).test(text))
  const imports = [
    ...(used.length > 0 ? [`import { ${used.join(', ')} } from './reading.ts'`] : []),
    `import type { ${['Binding', 'NoArgs', 'Value'].filter((name) => new RegExp(`\\b${name}\\b`).test(text)).join(', ')} } from './script.ts'`,
    ...(text.includes('Remaining') ? ["import type { Remaining } from '../../remaining.ts'"] : []),
  ]
  return `${HEAD}${imports.join('\n')}\n${text}`
}

/** The module with the texts of scripts alone, for the tools, which send the texts themselves. */
export function sourcesOf(scripts) {
  const lines = scripts.map(
    ({ constant, source }) => `export const ${constant} = ${JSON.stringify(source)}\n`,
  )
  return `${HEAD}\n${lines.join('')}`
}

const capitalized = (name) => `${name[0].toUpperCase()}${name.slice(1)}`

function bindingOf(script, named) {
  const { constant, name, keys, args, sha1, sent } = script
  const type = capitalized(constant)
  const isGiven = args.some(({ from }) => from === 'given')
  const { answer, reader } = readerOf(script, named)
  const facts = {
    name,
    keys: keys.map((key) => key.name),
    args: args.map((one) => one.name),
    sha1,
    source: sent,
  }
  const fields = Object.entries(facts).map(
    ([key, value]) => `    ${key}: ${JSON.stringify(value)},\n`,
  )
  return `${isGiven ? interfaceOf(`${type}Args`, args) : ''}export type ${type}Reply = ${answer}

export const ${constant}: Binding<${namesOf(script)}, ${isGiven ? `${type}Args` : 'NoArgs'}, ${type}Reply> = {
  script: {
${fields.join('')}  },
  keysOf: ${keysOf(keys)},
  argsOf: ${argsOf(args)},
  read: ${reader},
}
`
}

/** The type of the names that a script gets: of its keys, and of arguments such as the channel. */
function namesOf({ keys, args }) {
  const members = keys.map(({ name, index, isOptional }) => {
    if (index === '*') return `readonly ${name}: readonly string[]`
    return `readonly ${name}${isOptional ? '?: string | undefined' : ': string'}`
  })
  const sent = args.filter(({ from }) => from === 'names')
  return objectType([...members, ...sent.map(({ name }) => `readonly ${name}: string`)])
}

function keysOf(keys) {
  const list = keys
    .filter(({ isOptional }) => !isOptional)
    .map(({ name, index }) => `${index === '*' ? '...' : ''}names.${name}`)
  const optional = keys.filter(({ isOptional }) => isOptional)
  if (optional.length === 0) return `(names) => [${list.join(', ')}]`
  const steps = optional.map(
    ({ name }) => `    if (names.${name} !== undefined) keys.push(names.${name})\n`,
  )
  return `(names) => {\n    const keys = [${list.join(', ')}]\n${steps.join('')}    return keys\n  }`
}

const tsType = (type) => (typeof type === 'string' ? type : 'boolean')
const sent = (path, type) =>
  typeof type === 'string' ? path : `${path} ? ${type.yes} : ${type.no}`

const interfaceOf = (name, args) =>
  `export interface ${name} {\n${args
    .filter(({ from }) => from === 'given')
    .map(memberOf)
    .join('')}}\n\n`

function argsOf(args) {
  const uses = (which) => args.some(({ from }) => from === which)
  const [given, ...others] = ['given', 'terms', 'names']
  const last = others.findLastIndex(uses)
  const parameters = [uses(given) ? given : '_', ...others.slice(0, last + 1)]
  const isConstant = last === -1 && !uses(given)
  const needed = args.filter(({ isOptional, index }) => !isOptional && index !== '*')
  const list = `[${needed.map(argument).join(', ')}]`
  const rest = args.find(({ index }) => index === '*')
  const optional = args.filter(({ isOptional }) => isOptional)
  const steps = [...(rest === undefined ? [] : loopOver(rest)), ...optionalOf(optional)]
  const start = isConstant ? '() =>' : `(${parameters.join(', ')}) =>`
  if (steps.length === 0) return `${start} ${list}`
  const lines = [`const args: Value[] = ${list}`, ...steps, 'return args']
  return `${start} {\n${lines.map((line) => `    ${line}\n`).join('')}  }`
}

function argument({ name, from, type, initial }) {
  if (from !== 'given') return `${from}.${name}`
  return initial === undefined ? sent(`given.${name}`, type) : `given.${name} ?? ${initial}`
}

function memberOf({ name, index, type, fields, isNested, isOptional }) {
  const element =
    fields === undefined
      ? tsType(type)
      : `{ ${fields.map((one) => `readonly ${one.name}: ${tsType(one.type)}`).join('; ')} }`
  if (index !== '*') {
    return `  readonly ${name}${isOptional ? '?' : ''}: ${element}${isOptional ? ' | undefined' : ''}\n`
  }
  const list = fields === undefined && element.includes(' ') ? `(${element})` : element
  return `  readonly ${name}: readonly ${isNested ? `(readonly ${list}[])` : list}[]\n`
}

/** The statements that send a list. The length of an inner list is sent before its values. */
function loopOver({ name, type, fields, isNested }) {
  const values =
    fields === undefined
      ? sent('one', type)
      : fields.map((one) => sent(`one.${one.name}`, one.type)).join(', ')
  if (!isNested) return [`for (const one of given.${name}) args.push(${values})`]
  return [
    `for (const all of given.${name}) {`,
    '  args.push(all.length)',
    `  for (const one of all) args.push(${values})`,
    '}',
  ]
}

/** The statements that send the optional arguments, up to the last argument that the caller gives. */
function optionalOf(optional) {
  const groups = []
  for (const one of optional) {
    if (one.from === 'given') groups.push([one])
    else groups.at(-1)?.push(one)
  }
  const steps = groups.map((group, i) => {
    const [{ name, initial }] = group
    const isGiven =
      initial === undefined
        ? `given.${name} !== undefined`
        : `given.${name} !== undefined && given.${name} !== ${initial}`
    const values = groups
      .slice(0, i + 1)
      .flat()
      .map((one) => pushed(one, group))
    return `if (${isGiven}) args.push(${values.join(', ')})`
  })
  return steps.reverse().map((step, i) => `${i > 0 ? 'else ' : ''}${step}`)
}

/** The value of an argument. The caller is known to give the arguments in `last`, so these need no default. */
function pushed(one, last) {
  if (last.includes(one) && one.from === 'given') return sent(`given.${one.name}`, one.type)
  return argument(one)
}

/** The type of the answer, and the function that reads it. */
function readerOf({ replies }, named) {
  if (replies === null) return { answer: 'unknown', reader: '(reply) => reply' }
  const shapes = replies.flatMap((one) =>
    one.sameAs === undefined ? [one] : (named.get(one.sameAs)?.replies ?? []),
  )
  const [only] = shapes
  if (only.literal !== undefined) return { answer: 'boolean', reader: '(reply) => flag(reply)' }
  if (only.value?.isList) {
    // An invalid element is read as undefined. The other elements stay usable.
    const { least = 0 } = only.value
    const [element, call] =
      least === GONE
        ? ['Remaining', 'remainingOrNone(one)']
        : ['number', `wholeOrNone(one, ${least})`]
    return {
      answer: `(${element} | undefined)[]`,
      reader: `(reply) => listOf(reply).map((one) => ${call})`,
    }
  }
  if (only.value !== undefined) {
    return { answer: fieldType(only.value), reader: `(reply) => ${read('reply', only.value)}` }
  }
  const told = shapes.filter(({ tag }) => tag !== 'late')
  if (told.some(({ tag }) => tag === undefined)) {
    const reader = `(reply) => {\n${untagged('reply', told, '    ')}  }`
    return { answer: untaggedType(told), reader }
  }
  const types = told.map(
    ({ tag, fields }) =>
      `\n  | ${objectType([`readonly kind: '${tag}'`, ...fields.map(memberType)])}`,
  )
  const cases = told.map(
    ({ tag, fields }) =>
      `      case '${tag}':\n        ${size('list', fields, 1)}\n        return { kind: '${tag}'${fields.map((one, i) => `, ${property(one, i + 1, fields.length)}`).join('')} }\n`,
  )
  const reader = `(reply) => {\n    const list = listOf(reply)\n    switch (list[0]) {\n${cases.join('')}      default:\n        throw odd()\n    }\n  }`
  return { answer: types.join(''), reader }
}

const objectType = (members) => `{ ${members.join('; ')} }`
const memberType = (field) => `readonly ${field.name}: ${fieldType(field)}`

function fieldType({ isList, elements, alternatives }) {
  if (isList) return elements.length === 0 ? 'number[]' : `(${untaggedType(elements)})[]`
  const types = {
    number: alternatives.some(({ least }) => least === GONE) ? 'Remaining' : 'number',
    digits: 'string',
    text: 'string',
    flag: 'boolean',
    pairs: '[string, string][]',
  }
  const all = alternatives.map(({ word, as }) =>
    word === "''" ? ({ 0: 'number', null: 'null' }[as] ?? 'string') : types[word],
  )
  return [...new Set(all)].join(' | ')
}

/** The type of lists without a tag, which differ in their length. A list of one field has the type of this field. */
function untaggedType(shapes) {
  const names = new Set(
    shapes
      .filter(({ fields }) => fields.length > 1)
      .flatMap(({ fields }) => fields.map(({ name }) => name)),
  )
  return shapes
    .map(({ fields }) => {
      if (fields.length === 1) return fieldType(fields[0])
      const own = fields.map(({ name }) => name)
      const missing = [...names]
        .filter((name) => !own.includes(name))
        .map((name) => `readonly ${name}?: undefined`)
      return objectType([...fields.map(memberType), ...missing])
    })
    .join(' | ')
}

function untagged(list, shapes, indent) {
  const all = shapes.map(({ fields }, i) => {
    const value =
      fields.length === 1
        ? read('parts[0]', fields[0])
        : `{ ${fields.map((one, at) => `${one.name}: ${read(`parts[${at}]`, one)}`).join(', ')} }`
    const last = i === shapes.length - 1
    return last
      ? `${indent}sized(parts, ${fields.length})\n${indent}return ${value}\n`
      : `${indent}if (parts.length === ${fields.length}) return ${value}\n`
  })
  return `${indent}const parts = listOf(${list})\n${all.join('')}`
}

function size(list, fields, before) {
  const most = fields.length + before
  const least = fields.some(({ initial }) => initial !== undefined) ? most - 1 : most
  return `sized(${list}, ${least === most ? most : `${least}, ${most}`})`
}

function property(field, at, last) {
  const value = read(`list[${at}]`, field)
  return field.initial === undefined || at !== last
    ? `${field.name}: ${value}`
    : `${field.name}: list.length > ${at} ? ${value} : ${field.initial}`
}

/** Reads a number. If its least value is -1 or -2, it is a reply of PTTL, and the code translates -1 and -2. */
function number(path, least = 0) {
  if (least === FOREVER) return `ttlMs(${path})`
  return least === GONE ? `remaining(${path})` : `whole(${path}, ${least})`
}

function read(path, { isList, elements, alternatives }) {
  if (isList)
    return `listOf(${path}).map((one) => {\n${untagged('one', elements, '          ')}        })`
  return alternatives
    .toSorted((a, b) => Number(b.word === "''") - Number(a.word === "''"))
    .map(({ word, least, as }) => {
      if (word === "''") return `${path} === '' ? ${as ?? "''"} : `
      if (word === 'number') return number(path, least)
      return `${word}(${path})`
    })
    .join('')
}
