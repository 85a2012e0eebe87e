// Reads the header comment of a script, which declares its keys, arguments and replies. CONTRIBUTING.md, "Adding a
// script", has the syntax.

/** Arguments that the connection adds, so no caller passes them. src/servers/redis/scripts/terms.ts has their types. */
const TERMS = [
  'notAfterUs',
  'counterMs',
  'publish',
  'birth',
  'runId',
  'claimMs',
  'aliveMs',
  'inbox',
]
/** Arguments that follow from the name of the lock, as its keys do. */
const NAMES = ['channel', 'tickets', 'prefix']

const FIELD =
  /^(?<name>[a-z][A-Za-z0-9]*)(?<list>\[\])?(?: = (?<initial>\d+)| >= (?<least>-?\d+)|: (?<type>.+))?$/

/** @returns the declarations of the header; `report` receives each error in the header */
export function readHeader(lines, report) {
  return { declarations: readDeclarations(lines, report), replies: readReturns(lines, report) }
}

function readDeclarations(lines, report) {
  const declarations = []
  for (const [i, text] of lines.entries()) {
    if (!/^\s*(KEYS|ARGV)\b/.test(text)) continue
    const match =
      /^ {2}(KEYS|ARGV)\[([1-9]\d*|\*)\] +([a-z][A-Za-z0-9]*)(\?|=\d+)? {2,}(\S.*)/.exec(text)
    if (match === null) {
      report(i + 1, 'a declaration reads "KEYS[1]  camelCaseName  description", indented by two')
      continue
    }
    const [, table, index, name, mark, description] = match
    const line = i + 1
    const one = { table, index, name, line, isOptional: mark !== undefined }
    if (mark?.startsWith('=')) one.initial = mark.slice(1)
    if (table === 'ARGV')
      Object.assign(
        one,
        argumentOf(one, description, (text) => report(line, text)),
      )
    declarations.push(one)
  }
  checkOptional(declarations, report)
  return declarations
}

function argumentOf({ name, index, initial }, description, refuse) {
  if (TERMS.includes(name)) return { from: 'terms' }
  if (NAMES.includes(name)) return { from: 'names' }
  const [, words] = /^(\{[^}]*\}(?:\[\])+|(?:text|number|value|'|\d).*?): /.exec(description) ?? []
  if (index !== '*') {
    const type = initial === undefined ? words : (words ?? 'number')
    return { from: 'given', type: givenType(name, type, refuse) }
  }
  const list = /^(.*?)((?:\[\])+)$/.exec(words ?? '')
  if (list === null && words !== undefined) refuse(`"${words}" is no list`)
  const [, element = 'text', brackets = '[]'] = list ?? []
  const fields = /^\{ (.*) \}$/.exec(element)?.[1]
  return {
    from: 'given',
    isNested: brackets.length > 2,
    ...(fields === undefined
      ? { type: givenType('', element, refuse) }
      : {
          fields: fields.split(', ').map((field) => {
            const { name: of = '', type } = FIELD.exec(field)?.groups ?? {}
            if (of === '') refuse(`"${field}" is no field`)
            return { name: of, type: givenType(of, type, refuse) }
          }),
        }),
  }
}

/** The type of an argument: a TypeScript type; or `{ yes, no }` for a boolean, with the texts that are sent. */
function givenType(name, words, refuse) {
  if (words === undefined) return /[a-z](Ms|Us)$/.test(name) ? 'number' : 'string'
  if (/^1 or (0|'')$/.test(words)) return { yes: '1', no: words.slice(5) }
  const types = { text: 'string', number: 'number', value: 'string | number' }
  const known = words
    .split(' or ')
    .map((word) => types[word] ?? (/^'.*'$/.test(word) ? word : undefined))
  if (known.includes(undefined)) refuse(`"${words}" is no type of an argument`)
  return known.join(' | ')
}

/** Optional arguments must come last. An optional term is sent if the optional argument before it is sent. */
function checkOptional(declarations, report) {
  for (const table of ['KEYS', 'ARGV']) {
    let optional
    for (const one of declarations.filter((declared) => declared.table === table)) {
      if (!one.isOptional && optional !== undefined) {
        report(one.line, `"${one.name}" cannot follow "${optional.name}", which may be left out`)
      } else if (one.isOptional && one.index === '*') {
        report(one.line, `"${one.name}" is a list, which may be empty`)
      } else if (
        table === 'ARGV' &&
        one.isOptional &&
        optional === undefined &&
        one.from !== 'given'
      ) {
        report(one.line, `"${one.name}" is no caller's to leave out`)
      } else if (
        one.from === 'given' &&
        optional?.from === 'given' &&
        optional.initial === undefined
      ) {
        report(
          optional.line,
          `"${optional.name}" must be "${optional.name}=<number>": more follows it`,
        )
      }
      if (one.isOptional && (one.from !== 'terms' || optional === undefined)) optional = one
    }
  }
}

/** @returns null if "Returns" is a text for people only; then the caller of the script reads the reply */
function readReturns(lines, report) {
  const start = lines.indexOf('  Returns')
  if (start === -1) return null
  const replies = []
  let isProse = false
  for (let i = start + 1; i < lines.length && lines[i] !== ']]'; i++) {
    const line = i + 1
    const refuse = (text) => report(line, text)
    const [, indent, first] = /^( *)(.*)$/.exec(lines[i])
    if (first === '' || (indent.length > 4 && !(indent.length === 6 && first.startsWith('{'))))
      continue
    const same = /^what `([\w/-]+)` returns, or$/.exec(first)
    if (first.startsWith('{')) {
      let text = first
      while (!/ \}(?: |$)/.test(text) && i + 1 < lines.length) text += ` ${lines[++i].trim()}`
      const shape = shapeOf(text, refuse)
      if (indent.length === 4) replies.push(shape)
      else if (replies.at(-1)?.fields?.at(-1)?.isList)
        replies.at(-1).fields.at(-1).elements.push(shape)
      else refuse('a list of this kind must come before what is in it')
    } else if (same !== null) {
      replies.push({ sameAs: same[1], line })
    } else if (/^[01] {2}\S/.test(first)) {
      replies.push({ literal: first[0] })
    } else {
      const { field } = /^(?<field>[a-z]\w*(?:\[\])?(?: >= -?\d+)?) {2}\S/.exec(first)?.groups ?? {}
      if (field === undefined) isProse = true
      else replies.push({ value: fieldOf(field, refuse) })
    }
  }
  if (isProse && replies.length > 0) {
    report(start + 2, 'each line below "Returns" declares an answer, or none of them does')
  }
  return isProse ? null : replies
}

/** Parses an answer such as `{ 'granted', token >= 1 }`: the word at its beginning, if there is one, and the fields. */
function shapeOf(text, refuse) {
  const [, inner] = /^\{ (.*?) \}(?: |$)/.exec(text) ?? []
  if (inner === undefined) {
    refuse('an answer reads "{ \'word\', field, field }"')
    return { fields: [] }
  }
  const parts = inner.split(/, +/)
  const [, tag] = /^'([a-z-]+)'$/.exec(parts[0]) ?? []
  const fields = parts.slice(tag === undefined ? 0 : 1).map((part) => fieldOf(part, refuse))
  const optional = fields.findIndex((one) => one.initial !== undefined)
  if (optional !== -1 && optional !== fields.length - 1) {
    refuse(`only the last field can be left out, which "${fields[optional].name}" is not`)
  }
  return { tag, fields }
}

function fieldOf(text, refuse) {
  const { name, list, initial, least, type } = FIELD.exec(text)?.groups ?? {}
  if (name === undefined) {
    refuse(`"${text}" is no field`)
    return { name: 'none', alternatives: [] }
  }
  if (list !== undefined) return { name, isList: true, least, elements: [] }
  const words = type ?? (least === undefined ? 'number' : `number >= ${least}`)
  const alternatives =
    words === '1 or 0'
      ? [{ word: 'flag' }]
      : words.split(' or ').map((word) => {
          const { kind, from, literal, as } =
            /^(?:(?<kind>text|digits|pairs|number)(?: >= (?<from>-?\d+))?|(?<literal>'')(?: as (?<as>0|null))?)$/.exec(
              word,
            )?.groups ?? {}
          if (kind === undefined && literal === undefined) refuse(`"${word}" is no type of a field`)
          return { word: kind ?? literal, least: from, as }
        })
  return { name, initial, alternatives }
}
