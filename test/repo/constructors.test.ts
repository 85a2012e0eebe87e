import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from '@swc/core'
import { root, sourceFiles } from './names.ts'

type Node = Record<string, unknown>

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null

/** Methods that send a request, or that connect to a server. */
const sending = new Set([
  ...['send', 'check', 'renew', 'read', 'listen', 'call', 'connect'],
  ...['lower', 'release', 'abandon', 'acquire', 'verify', 'sendCommand', 'start'],
])

/** Functions that run later than the constructor that defines them. */
const later = /^(?:ArrowFunctionExpression|FunctionExpression|FunctionDeclaration|Class\w*)$/

/** The names of the methods that this code calls now. */
function callsIn(value: unknown): string[] {
  if (!isNode(value) || later.test(`${value.type}`)) return []
  const inner = Object.values(value).flatMap(callsIn)
  if (value.type !== 'CallExpression') return inner
  const { property } = value.callee as { property?: { value?: unknown } }
  return typeof property?.value === 'string' ? [property.value, ...inner] : inner
}

/** The names of the sending methods that the constructors of this code call. */
function sentIn(value: unknown): string[] {
  if (!isNode(value)) return []
  if (value.type === 'Constructor') return callsIn(value.body).filter((name) => sending.has(name))
  return Object.values(value).flatMap(sentIn)
}

const sentBy = (text: string) => sentIn(parseSync(text, { syntax: 'typescript', target: 'es2022' }))

test('the reader finds a request of a constructor, and no request of its functions', () => {
  expect(sentBy('class A { constructor() { super(); this.send() } }')).toEqual(['send'])
  expect(sentBy('class A { constructor(b: B) { void this.#read(b.id()) } }')).toEqual(['read'])
  expect(sentBy('class A { constructor() { this.b = new B(() => this.send()) } }')).toEqual([])
  expect(sentBy('class A { c() { this.send() } }')).toEqual([])
})

test('no constructor sends a request', () => {
  const found = sourceFiles().flatMap((file) =>
    sentBy(readFileSync(join(root, file), 'utf8')).map((name) => `${file}: ${name}()`),
  )
  expect(found).toEqual([])
})
