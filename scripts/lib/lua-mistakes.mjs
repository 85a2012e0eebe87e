/**
 * @typedef {object} Mistake one part of a source that becomes another text
 * @property {number} from
 * @property {number} to
 * @property {string} text the text that replaces the part
 * @property {string} what
 */

const swapped = (pairs) => (text) => pairs[text]

/** Patterns that are replaced at each place in the code. */
const REPLACED = [
  { pattern: /\b(and|or)\b/g, by: swapped({ and: 'or', or: 'and' }), what: 'and/or' },
  { pattern: /\bnot\b /g, by: () => '', what: 'not' },
  { pattern: /[=~]=/g, by: swapped({ '==': '~=', '~=': '==' }), what: 'equality' },
  {
    pattern: /[<>]=?/g,
    by: swapped({ '<': '<=', '<=': '<', '>': '>=', '>=': '>' }),
    what: 'bound',
  },
  { pattern: / [+-] /g, by: swapped({ ' + ': ' - ', ' - ': ' + ' }), what: 'sum' },
  { pattern: / [*/] /g, by: swapped({ ' * ': ' / ', ' / ': ' * ' }), what: 'product' },
  { pattern: /\bmath\.(max|min)\b/g, by: (text) => (text.endsWith('x') ? 'math.min' : 'math.max') },
  { pattern: /\b(true|false)\b/g, by: swapped({ true: 'false', false: 'true' }), what: 'truth' },
  {
    pattern: /(?<![\w.[\]#'])\d+(?![\w.\]])/g,
    by: (text) => `${Number(text) + 1}`,
    what: 'number',
  },
]

/**
 * The small mistakes that can be made in a Lua script: a condition that is turned round or left out, a bound that is off
 * by one, a write that is missing.
 *
 * @param {string} source
 * @returns {Mistake[]}
 */
export function luaMistakes(source) {
  const code = withoutTexts(source)
  const found = []
  for (const { pattern, by, what = 'max/min' } of REPLACED) {
    for (const { 0: text, index } of code.matchAll(pattern)) {
      found.push({ from: index, to: index + text.length, text: by(text), what })
    }
  }
  for (const { 1: word, 2: condition, index } of code.matchAll(/\b(if|elseif) ([^\n]+?) then\b/g)) {
    const from = index + word.length + 1
    const to = from + condition.length
    found.push(
      { from, to, text: 'false', what: 'never' },
      { from, to, text: 'true', what: 'always' },
    )
    for (const term of termsOf(condition)) {
      found.push({ from: from + term.from, to: from + term.to, text: '', what: 'term' })
    }
  }
  for (const { 0: line, index } of code.matchAll(/^ *(redis\.p?call|[a-zA-Z]+)\(.*\)$/gm)) {
    found.push({ from: index, to: index + line.length, text: '', what: 'statement' })
  }
  return found.sort((a, b) => a.from - b.from)
}

/** The terms of a condition at its outermost level, each with the word that joins it. */
function termsOf(condition) {
  const joins = []
  let depth = 0
  for (const { 0: text, index } of condition.matchAll(/[()[\]{}]| (and|or) /g)) {
    if ('([{'.includes(text)) depth += 1
    else if (')]}'.includes(text)) depth -= 1
    else if (depth === 0) joins.push({ index, length: text.length })
  }
  const [first] = joins
  if (first === undefined) return []
  const others = joins.map(({ index }, i) => {
    return { from: index, to: joins[i + 1]?.index ?? condition.length }
  })
  return [{ from: 0, to: first.index + first.length }, ...others]
}

/** Replaces comments and strings by spaces, so that no mistake is made in them. */
function withoutTexts(source) {
  const texts = /--\[\[[\s\S]*?\]\]|--[^\n]*|'(?:\\.|[^'\\\n])*'/g
  return source.replace(texts, (text) => text.replace(/[^\n]/g, ' '))
}
