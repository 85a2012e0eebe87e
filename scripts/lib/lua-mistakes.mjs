/**
 * The small mistakes that can be made in a Lua script: a condition that is turned round or left out, a bound that is
 * off by one, a write that is missing.
 *
 * @param {string} source
 * @returns {{ from: number, to: number, text: string, line: number, what: string }[]} each replaces one part of the source
 */
export function luaMistakes(source) {
  const code = blank(source)
  const found = []
  const add = (from, to, text, what) => {
    if (source.slice(from, to) === text) return
    found.push({ from, to, text, line: source.slice(0, from).split('\n').length, what })
  }
  for (const { pattern, replace, what } of REPLACED) {
    for (const match of code.matchAll(pattern)) {
      const text = replace(match[0])
      if (text !== undefined) add(match.index, match.index + match[0].length, text, what)
    }
  }
  for (const match of code.matchAll(/\b(if|elseif) ([^\n]+?) then\b/g)) {
    const from = match.index + match[1].length + 1
    const to = from + match[2].length
    add(from, to, 'false', 'condition never true')
    add(from, to, 'true', 'condition always true')
    for (const term of termsOf(code.slice(from, to))) {
      add(
        from + term.from,
        from + term.to,
        '',
        `term left out: ${source.slice(from + term.from, from + term.to).trim()}`,
      )
    }
  }
  let at = 0
  for (const line of source.split('\n')) {
    const statement =
      /^ *(redis\.p?call\(|[a-zA-Z]+\(.*\)$)/.test(line) &&
      isWhole(code.slice(at, at + line.length))
    if (statement) add(at, at + line.length, '', 'statement left out')
    at += line.length + 1
  }
  return found.sort((a, b) => a.from - b.from)
}

const swap = (pairs) => (text) => pairs[text]

const REPLACED = [
  { pattern: /\b(and|or)\b/g, replace: swap({ and: 'or', or: 'and' }), what: 'and or' },
  { pattern: /\bnot\b /g, replace: () => '', what: 'not left out' },
  { pattern: /[=~]=/g, replace: swap({ '==': '~=', '~=': '==' }), what: 'turned round' },
  {
    pattern: /[<>]=?/g,
    replace: swap({ '<': '<=', '<=': '<', '>': '>=', '>=': '>' }),
    what: 'bound',
  },
  { pattern: / [+-] /g, replace: swap({ ' + ': ' - ', ' - ': ' + ' }), what: 'sum' },
  { pattern: / [*] /g, replace: () => ' / ', what: 'product' },
  { pattern: / \/ /g, replace: () => ' * ', what: 'product' },
  {
    pattern: /\bmath\.(max|min|ceil|floor)\b/g,
    replace: swap({
      'math.max': 'math.min',
      'math.min': 'math.max',
      'math.ceil': 'math.floor',
      'math.floor': 'math.ceil',
    }),
    what: 'rounding',
  },
  { pattern: /\b(true|false)\b/g, replace: swap({ true: 'false', false: 'true' }), what: 'truth' },
  {
    pattern: /(?<![\w.[\]#'])\d+(?![\w.\]])/g,
    replace: (text) => String(Number(text) + 1),
    what: 'number',
  },
]

/** The terms of a condition with the word that joins each, at its outermost level. */
function termsOf(condition) {
  const joins = []
  let depth = 0
  for (const match of condition.matchAll(/[()[\]{}]| (and|or) /g)) {
    if ('([{'.includes(match[0])) depth += 1
    else if (')]}'.includes(match[0])) depth -= 1
    else if (depth === 0) joins.push(match.index)
  }
  if (joins.length === 0) return []
  const terms = joins.map((from, i) => ({ from, to: joins[i + 1] ?? condition.length }))
  const first = condition.slice(joins[0]).startsWith(' and ') ? 5 : 4
  return [{ from: 0, to: joins[0] + first }, ...terms]
}

function isWhole(line) {
  const count = (letters) => [...line].filter((letter) => letters.includes(letter)).length
  return count('([{') === count(')]}')
}

/** Comments and strings as spaces, and so the includes, so that what stands in them is left alone. */
function blank(source) {
  return source.replace(/--\[\[[\s\S]*?\]\]|--[^\n]*|'(?:\\.|[^'\\\n])*'/g, (text) =>
    text.replace(/[^\n]/g, ' '),
  )
}
