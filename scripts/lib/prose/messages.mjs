import { parseSync } from '@swc/core'
import { sentencesOf } from './sentences.mjs'

/** A text with fewer words is a name or a label, and not a sentence. */
const FEWEST_WORDS = 4

/**
 * The sentences in the strings of a source file: the texts of errors, warnings and commands.
 *
 * @param {string} source
 * @returns {{ line: number, text: string }[]}
 */
export function sentencesOfMessages(source) {
  // The parser counts positions from the end of the text that it parsed before.
  const ast = parseSync(source, { syntax: 'typescript', target: 'es2022' })
  const lines = lineOf(source, ast.span.start)
  const texts = []
  visit(ast, (node) => {
    const text = textOf(node)
    if (text === undefined) return false
    texts.push({ line: lines(node.span.start), text })
    return true
  })
  return texts
    .filter(
      ({ text }) => text.trim().split(/\s+/).length >= FEWEST_WORDS && /[a-z] [a-z]/.test(text),
    )
    .flatMap(({ line, text }) => text.split('\n').flatMap((one) => sentencesOf(one, line)))
}

export function textOf(node) {
  if (node.type === 'StringLiteral') return node.value
  if (node.type === 'TemplateLiteral') {
    return node.quasis.map(({ cooked }) => cooked).join('Code')
  }
  if (node.type === 'BinaryExpression' && node.operator === '+') {
    const [left, right] = [textOf(node.left), textOf(node.right)]
    if (left === undefined && right === undefined) return undefined
    return `${left ?? 'Code'}${right ?? 'Code'}`
  }
  return undefined
}

/** Calls `see` for each node. If `see` returns true, the nodes below this node are skipped. */
export function visit(node, see) {
  if (Array.isArray(node)) for (const one of node) visit(one, see)
  else if (typeof node === 'object' && node !== null) {
    if (typeof node.type === 'string' && see(node)) return
    for (const one of Object.values(node)) visit(one, see)
  }
}

/** Returns a function that finds the line of a position. The parser counts positions in bytes. */
export function lineOf(source, start) {
  const bytes = Buffer.from(source)
  return (at) =>
    bytes
      .subarray(0, at - start)
      .toString()
      .split('\n').length
}
