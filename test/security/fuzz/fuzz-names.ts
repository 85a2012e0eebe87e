import fc from 'fast-check'
import { escapeName, readClientInfo } from '../../../src/index.ts'
import { oneLine } from '../../../src/kit/printable.ts'
import { readMessage, written } from '../../../src/local/revocation-messages.ts'
import { fromTraceparent } from '../../../src/observe/opentelemetry/traceparent.ts'
import { rawNameOf } from '../../../src/servers/raw-name.ts'
import { slotOf } from '../../../src/servers/redis/calls/cluster-slot.ts'
import { lockKeys } from '../../../src/servers/redis/calls/keys.ts'
import { queueKeys } from '../../../src/servers/redis/key-names/fair.ts'
import { permitKeys } from '../../../src/servers/redis/key-names/permits.ts'
import { readWriteKeys } from '../../../src/servers/redis/key-names/read-write.ts'
import { nameRule } from '../../../src/servers/redis/name-rule.ts'
import { fieldsOf, type NewEntry, readEntry } from '../../../tools/history/entry.ts'
import { matcherOf } from '../../../tools/inspection/glob.ts'
import { lockOf } from '../../../tools/inspection/redis/key-names.ts'
import { shellWord } from '../../../tools/inspection/shell-word.ts'
import { anything, orRefusal, type Target, target, texts } from './target.ts'

function same(a: unknown, b: unknown, what: string): void {
  if (a !== b) throw new Error(`${what}: ${JSON.stringify(a)} is not ${JSON.stringify(b)}`)
}

/** True if the pattern matches in Redis. This is a copy of `stringmatchlen` in its util.c. */
function redisMatches(pattern: Buffer, text: Buffer): boolean {
  let [p, s] = [0, 0]
  for (; p < pattern.length && s < text.length; p++) {
    const char = String.fromCharCode(pattern[p] as number)
    if (char === '*') {
      while (pattern[p + 1] === 0x2a) p++
      if (p + 1 === pattern.length) return true
      for (let from = s; from <= text.length; from++) {
        if (redisMatches(pattern.subarray(p + 1), text.subarray(from))) return true
      }
      return false
    }
    const byte = text[s] as number
    if (char === '[') {
      p++
      const isNegated = pattern[p] === 0x5e
      if (isNegated) p++
      let isIn = false
      for (; ; p++) {
        if (pattern[p] === 0x5c && pattern.length - p >= 2) {
          p++
          if (pattern[p] === byte) isIn = true
        } else if (pattern[p] === 0x5d) break
        else if (p >= pattern.length) {
          p--
          break
        } else if (pattern.length - p >= 3 && pattern[p + 1] === 0x2d) {
          const ends = [pattern[p] as number, pattern[p + 2] as number]
          if (byte >= Math.min(...ends) && byte <= Math.max(...ends)) isIn = true
          p += 2
        } else if (pattern[p] === byte) isIn = true
      }
      if (isIn === isNegated) return false
    } else if (char !== '?') {
      if (char === '\\' && pattern.length - p >= 2) p++
      if (pattern[p] !== byte) return false
    }
    s++
  }
  while (s === text.length && pattern[p] === 0x2a) p++
  return p >= pattern.length && s === text.length
}

const globs = fc
  .array(fc.constantFrom('*', '?', '[', ']', '^', '-', '\\', 'a', 'b', 'z', 'é'), { maxLength: 9 })
  .map((parts) => parts.join(''))
const globbed = fc
  .array(fc.constantFrom('a', 'b', 'z', '-', ']', '\\', 'é'), { maxLength: 6 })
  .map((parts) => parts.join(''))

/** Returns the word that a shell reads from `'…'`, from `$'…'` and from `\x`. */
function readWord(word: string): string {
  const bytes: number[] = []
  const add = (text: string) => bytes.push(...Buffer.from(text))
  for (let i = 0; i < word.length; ) {
    const isEscaped = word.startsWith("$'", i)
    if (isEscaped || word[i] === "'") {
      i += isEscaped ? 2 : 1
      while (word[i] !== "'") {
        if (i >= word.length) throw new Error(`A quote without an end: ${word}`)
        const [, hex] = (isEscaped && /^\\x([0-9a-f]{1,2})/i.exec(word.slice(i, i + 4))) || []
        if (hex === undefined) add(String.fromCodePoint(word.codePointAt(i) as number))
        else bytes.push(Number.parseInt(hex, 16))
        i += hex === undefined ? ((word.codePointAt(i) as number) > 0xffff ? 2 : 1) : 2 + hex.length
      }
      i++
    } else if (word[i] === '\\') {
      add(word[i + 1] as string)
      i += 2
    } else {
      if (!/[\w:./@%+=,-]/.test(word[i] as string)) throw new Error(`Not quoted: ${word}`)
      add(word[i++] as string)
    }
  }
  return Buffer.from(bytes).toString()
}

const wellFormed = texts.filter((text) => Buffer.from(text).toString() === text)

const entries: fc.Arbitrary<NewEntry> = fc.record({
  event: fc.constantFrom('acquired', 'released', 'lost', 'forced', 'timeout', 'dropped'),
  name: texts,
  owner: texts,
  client: texts,
  label: texts,
  token: fc.nat(),
  waitedMs: fc.nat(),
  reason: texts,
  isGroup: fc.boolean(),
}) as fc.Arbitrary<NewEntry>

const FIELD_NAMES = [
  'event',
  'name',
  'kind',
  'owner',
  'token',
  'client',
  'waitedMs',
  'path',
  'agoMs',
  'seq',
  'group',
  '__proto__',
]
const VALUES = fc.oneof(
  texts,
  fc.constantFrom('acquired', 'lost', '-1e300', '1e400', '12', '9007199254740993'),
)

export const NAMES: readonly Target[] = [
  target(
    'glob patterns, beside what Redis does',
    8,
    fc.tuple(globs, globbed),
    ([pattern, name]) => {
      const expected = redisMatches(Buffer.from(pattern), Buffer.from(name))
      same(matcherOf(pattern)(name), expected, `${pattern} of ${name}`)
    },
  ),
  target('long glob patterns', 1, fc.tuple(fc.nat(200), fc.nat(2_000)), ([stars, length]) => {
    matcherOf('*a'.repeat(stars))('a'.repeat(length))
  }),
  target('names', 6, fc.tuple(anything, texts), ([prefix, name]) => {
    const given = typeof prefix === 'string' ? prefix : ''
    const raw = orRefusal(() => rawNameOf(name, given, nameRule(true)))
    if (raw === undefined) return
    same(raw, given + name, 'the raw name')
    const { counter, channel } = lockKeys(raw)
    const { queue } = queueKeys(raw)
    same(lockOf(counter), raw, 'the lock of its counter')
    same(lockOf(queue), raw, 'the lock of its queue')
    const { prefix: _, ...readWrite } = readWriteKeys(raw)
    const others = [readWrite, permitKeys(raw)].flatMap((keys) => Object.values(keys))
    const all = [counter, channel, ...others]
    for (const one of all) same(slotOf(one), slotOf(raw), `the slot of ${one}`)
  }),
  target('escaped names', 4, fc.tuple(texts, texts), ([text, other]) => {
    const name = escapeName(text)
    if (/[{}:\p{Cc}]/u.test(name) || name === '') throw new Error(`Not escaped: ${name}`)
    rawNameOf(`a:${name}`, '', nameRule(true))
    const back = name
      .replace(/^%-$/, '')
      .replace(/%(?:u([0-9A-F]{4})|([0-9A-F]{2}))/g, (_, four, two) =>
        String.fromCharCode(Number.parseInt(four ?? two, 16)),
      )
    same(back, text, 'what was escaped')
    if (text !== other && escapeName(other) === name) throw new Error(`Two texts are ${name}`)
  }),
  target('words for a shell', 4, wellFormed, (text) => {
    same(readWord(shellWord(text)), text, 'what the shell reads')
  }),
  target('notes of clients', 4, fc.oneof(texts, fc.json(), notes()), (about) => {
    const info = readClientInfo('c', about)
    if (info === null) return
    for (const one of [info.label, info.host, info.version]) same(typeof one, 'string', 'a text')
    same(Number.isSafeInteger(info.pid) && Number.isFinite(info.startedAt), true, 'numbers')
  }),
  target('requests to release', 4, fc.oneof(texts, fc.json(), messages()), (text) => {
    const message = readMessage(text)
    if (message === undefined) return
    const again = readMessage(written(message))
    same(JSON.stringify(again), JSON.stringify(message), 'what was read again')
    if (message.kind === 'request' && message.by.label !== oneLine(message.by.label, 200)) {
      throw new Error('A label of several lines')
    }
  }),
  target(
    'traces in notes',
    1,
    fc.oneof(texts, fc.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/)),
    (text) => {
      fromTraceparent(text)
    },
  ),
  target(
    'entries of the history',
    4,
    fc.tuple(texts, fc.array(fc.tuple(fc.constantFrom(...FIELD_NAMES), VALUES))),
    ([id, pairs]) => {
      const found = readEntry(id, pairs.flat())
      if (found === undefined) return
      new Date(found.entry.at).toISOString()
      for (const [name, value] of Object.entries(found.entry)) {
        if (typeof value === 'number' && !Number.isFinite(value))
          throw new Error(`${name} is ${value}`)
      }
    },
  ),
  target('entries that are written and read', 3, entries, (entry) => {
    const read = readEntry('1700000000000-0', fieldsOf(entry, 5, 's'))?.entry
    same(read?.event, entry.event, 'the event')
    same(read?.name, entry.name, 'the name')
    same(read?.owner, entry.owner || null, 'the owner')
    same(read?.reason, entry.reason || null, 'the reason')
    same(read?.token, entry.token, 'the token')
    same(read?.isGroup, entry.isGroup, 'the group')
    same(read?.waitedMs, entry.waitedMs, 'the wait')
  }),
]

function notes(): fc.Arbitrary<string> {
  const values = fc.oneof(texts, fc.integer(), fc.double(), fc.constant(null), fc.constant({}))
  return fc
    .record(
      { label: values, host: values, pid: values, version: values, startedAt: values },
      { requiredKeys: [] },
    )
    .map((note) => JSON.stringify(note))
}

function messages(): fc.Arbitrary<string> {
  const values = fc.oneof(texts, fc.integer(), fc.constant(null), fc.array(texts, { maxLength: 3 }))
  const by = fc.oneof(
    values,
    fc.record({ client: fc.oneof(texts, fc.constant('abc')), label: values }),
  )
  return fc
    .record(
      {
        kind: fc.constantFrom('request', 'answer', 'x'),
        id: texts,
        owners: values,
        reason: values,
        by,
        client: values,
        heard: values,
      },
      { requiredKeys: ['kind', 'id'] },
    )
    .map((message) => JSON.stringify(message))
}
