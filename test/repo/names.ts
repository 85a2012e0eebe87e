import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseSync } from '@swc/core'

export const root = resolve(__dirname, '../..')

/** A name that the source defines. */
export interface Defined {
  readonly name: string
  readonly kind: 'type' | 'act' | 'parameter' | 'file'
  readonly file: string
}

interface Node {
  readonly type?: string
  readonly [key: string]: unknown
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null

/** The name of an identifier; undefined for a computed or quoted name. */
function nameOf(value: unknown): string | undefined {
  if (!isNode(value)) return undefined
  const { type, value: text } = value
  const isName = type === 'Identifier' || type === 'PrivateName'
  return isName && typeof text === 'string' ? text : undefined
}

const TYPES: Record<string, string> = {
  ClassDeclaration: 'identifier',
  TsInterfaceDeclaration: 'id',
  TsTypeAliasDeclaration: 'id',
}

const ACTS: Record<string, string> = {
  FunctionDeclaration: 'identifier',
  ClassMethod: 'key',
  PrivateMethod: 'key',
  TsMethodSignature: 'key',
  MethodProperty: 'key',
  GetterProperty: 'key',
}

/** Members and variables count if their value or their type is a function. */
const VALUES: Record<string, string> = {
  ClassProperty: 'key',
  PrivateProperty: 'key',
  KeyValueProperty: 'key',
  VariableDeclarator: 'id',
  TsPropertySignature: 'key',
}

function isAct({ value, init, typeAnnotation }: Node): boolean {
  const made = (value ?? init) as Node | null | undefined
  if (made?.type === 'ArrowFunctionExpression' || made?.type === 'FunctionExpression') return true
  const annotation = (typeAnnotation as Node | null | undefined)?.typeAnnotation
  return isNode(annotation) && annotation.type === 'TsFunctionType'
}

/** The names that parameters bind: in patterns too. */
function boundBy(pattern: unknown): string[] {
  if (Array.isArray(pattern)) return pattern.flatMap(boundBy)
  if (!isNode(pattern)) return []
  const name = nameOf(pattern)
  if (name !== undefined) return [name]
  const { pat, param, argument, left, properties, elements, key, value, type } = pattern
  if (type === 'AssignmentPatternProperty') return boundBy(key)
  if (type === 'KeyValuePatternProperty') return boundBy(value)
  return boundBy(pat ?? param ?? argument ?? left ?? properties ?? elements)
}

/** The names that one file defines. */
export function namesIn(file: string, text: string): Defined[] {
  const found: Defined[] = []
  const add = (kind: Defined['kind'], name: string | undefined) => {
    if (name !== undefined) found.push({ name, kind, file })
  }
  const visit = (value: unknown): void => {
    if (!isNode(value)) return
    const { type = '' } = value
    if (type in TYPES) add('type', nameOf(value[TYPES[type] as string]))
    if (type in ACTS) add('act', nameOf(value[ACTS[type] as string]))
    if (type in VALUES && isAct(value)) add('act', nameOf(value[VALUES[type] as string]))
    for (const name of boundBy(value.params)) add('parameter', name)
    for (const part of Object.values(value)) visit(part)
  }
  visit(parseSync(text, { syntax: 'typescript', target: 'es2022' }))
  return found
}

/** The TypeScript files of `src` and `tools` that people write. */
export function sourceFiles(): string[] {
  return ['src', 'tools']
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
        join(folder, file),
      ),
    )
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.generated.ts'))
}

/** All names of the source, the names of its files and folders among them. */
export function definedNames(): Defined[] {
  return sourceFiles().flatMap((file) => {
    const parts = file.replace(/\.ts$/, '').split(/[\\/]/)
    const own = parts.map((name): Defined => ({ name, kind: 'file', file }))
    return [...own, ...namesIn(file, readFileSync(join(root, file), 'utf8'))]
  })
}
