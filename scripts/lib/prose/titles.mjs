import { parseSync } from '@swc/core'
import { lineOf, textOf, visit } from './messages.mjs'

/** The functions whose first argument is a title: `test`, and also `test.each(cases)`. */
const TITLED = new Set(['test', 'it', 'describe'])

/**
 * The titles of the tests and of their groups in a test file.
 *
 * @param {string} source
 * @returns {{ line: number, text: string }[]}
 */
export function titlesOf(source) {
  // The parser counts positions from the end of the text that it parsed before.
  const ast = parseSync(source, { syntax: 'typescript', target: 'es2022' })
  const lines = lineOf(source, ast.span.start)
  const titles = []
  visit(ast, (node) => {
    if (node.type !== 'CallExpression' || !TITLED.has(nameOf(node.callee))) return false
    const [title] = node.arguments
    const text = title && textOf(title.expression)
    if (text !== undefined) titles.push({ line: lines(title.expression.span.start), text })
    return false
  })
  return titles
}

/** `test` for `test`, `test.skip`, `test.each(cases)` and `stage.testOfExclusion`. */
function nameOf(callee) {
  if (callee.type === 'Identifier') return callee.value
  if (callee.type === 'MemberExpression') {
    return /^test[A-Z]/.test(callee.property.value) ? 'test' : nameOf(callee.object)
  }
  if (callee.type === 'CallExpression') return nameOf(callee.callee)
  return undefined
}
