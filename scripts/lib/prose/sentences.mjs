import MarkdownIt from 'markdown-it'

const markdown = new MarkdownIt()
const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' })

/**
 * The sentences of a Markdown page: of its paragraphs, items, headings and cells, and not of its code. A span of code
 * counts as one word. Text that is struck through is a bad example, and is left out.
 *
 * @param {string} text
 * @returns {{ line: number, text: string }[]}
 */
export function sentencesOfPage(text) {
  const sentences = []
  let line = 1
  for (const token of markdown.parse(text, {})) {
    if (token.map) line = token.map[0] + 1
    if (token.type === 'inline') sentences.push(...sentencesOf(plainOf(token), line))
  }
  return sentences
}

/**
 * @param {string} text
 * @param {number} line where the text begins
 */
export function sentencesOf(text, line) {
  // An abbreviation, or the name of a file, ends no sentence. A sentence may begin with code.
  const parts = text
    .split(/(?<=[.?!]) (?=`)/)
    .flatMap((one) => [...segmenter.segment(one)].map(({ segment }) => segment.trim()))
  const sentences = []
  for (const part of parts.filter((one) => one !== '')) {
    const last = sentences.at(-1)
    if (last !== undefined && (/\b(?:e\.g|i\.e|vs|etc)\.$/.test(last) || /^[a-z(]/.test(part))) {
      sentences[sentences.length - 1] = `${last} ${part}`
    } else sentences.push(part)
  }
  return sentences.map((sentence) => ({ line, text: sentence }))
}

/** @param {import('markdown-it').Token} token */
function plainOf({ children }) {
  let isStruck = false
  return (children ?? [])
    .map(({ type, content }) => {
      if (type === 's_open' || type === 's_close') isStruck = type === 's_open'
      if (isStruck) return ''
      if (type === 'text') return content
      if (type === 'code_inline') return 'Code'
      return type === 'softbreak' || type === 'hardbreak' ? ' ' : ''
    })
    .join('')
}
