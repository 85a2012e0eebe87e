// Extends the Markdown of VitePress: links as in the repository, the anchors of GitHub, and diagrams.
import { addressOn, pathByAddress, withAddresses } from './pages.mjs'

/** The anchor of a heading, as on GitHub. VitePress adds a number if a heading is repeated. */
export function slugify(text) {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')
}

/** @param {import('markdown-it').default} md the parser of VitePress */
export function forSite(md) {
  md.core.ruler.push('holdfast-links', ({ tokens, env }) => {
    const page = pathByAddress.get(env.relativePath)
    if (page === undefined) return
    for (const token of tokens) {
      if (token.type === 'html_block') token.content = withAddresses(page, token.content)
      if (token.type === 'inline') linksToSite(page, token.children)
    }
  })

  // Vue takes two braces for the beginning of an expression.
  for (const rule of ['text', 'code_inline']) {
    const render = md.renderer.rules[rule]
    md.renderer.rules[rule] = (...args) => render(...args).replace(/\{(?=\{)/g, '&#123;')
  }

  const fence = md.renderer.rules.fence
  md.renderer.rules.fence = (tokens, at, ...rest) => {
    const { info, content } = tokens[at]
    if (info.trim() !== 'mermaid') return fence(tokens, at, ...rest)
    return `<MermaidDiagram code="${encodeURIComponent(content)}" />\n`
  }
}

function linksToSite(page, tokens) {
  /** For each open link: true if the site has an address for it. */
  const open = []
  for (const token of tokens) {
    if (token.type === 'link_open') {
      const address = addressOn(page, token.attrGet('href'), 'link')
      open.push(address !== undefined)
      if (address === undefined)
        Object.assign(token, { type: 'text', tag: '', content: '', nesting: 0 })
      else token.attrSet('href', address)
    } else if (token.type === 'link_close' && !open.pop()) {
      Object.assign(token, { type: 'text', tag: '', content: '', nesting: 0 })
    } else if (token.type === 'image') {
      token.attrSet('src', addressOn(page, token.attrGet('src'), 'picture'))
    } else if (token.type === 'html_inline') {
      token.content = withAddresses(page, token.content)
    }
  }
}
