import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve, sep } from 'node:path'

export const root = resolve(__dirname, '../../..')

/** A fenced block of a page. */
export interface Block {
  readonly page: string
  /** The line of its opening fence, from 1. */
  readonly line: number
  readonly language: string
  /** The words after the language: `run` marks a complete program. */
  readonly flags: readonly string[]
  readonly body: string
}

export interface Heading {
  readonly level: number
  readonly text: string
  readonly anchor: string
  /** The text below it, up to the next heading of its level or above. */
  readonly body: string
}

export interface Link {
  readonly line: number
  readonly target: string
}

/** One page of the documentation, as far as the tests need to read it. */
export interface Page {
  /** Its path in the repository. */
  readonly path: string
  readonly lines: readonly string[]
  readonly blocks: readonly Block[]
  readonly headings: readonly Heading[]
  readonly links: readonly Link[]
}

/** The README and everything in docs/. */
export function allPages(): Page[] {
  const inDocs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => join('docs', file))
  return ['README.md', ...inDocs.sort()].map(readPage)
}

export function readPage(path: string): Page {
  return parsePage(relative(root, resolve(root, path)).split(sep).join('/'), read(path))
}

export function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

export function parsePage(path: string, text: string): Page {
  const lines = text.split('\n')
  const blocks: Block[] = []
  const found: { level: number; text: string; line: number }[] = []
  const links: Link[] = []
  let open: { line: number; info: string } | undefined
  for (const [i, line] of lines.entries()) {
    const fence = /^\s*```(.*)$/.exec(line)
    if (open !== undefined) {
      if (fence === null) continue
      const [language = '', ...flags] = open.info.trim().split(/\s+/)
      const body = lines.slice(open.line, i).join('\n')
      blocks.push({ page: path, line: open.line, language, flags, body })
      open = undefined
    } else if (fence !== null) {
      open = { line: i + 1, info: fence[1] ?? '' }
    } else {
      const heading = /^(#+) (.+)$/.exec(line)
      if (heading !== null) {
        found.push({ level: heading[1]?.length ?? 0, text: heading[2] ?? '', line: i })
      }
      const prose = line.replace(/`[^`]*`/g, '``')
      for (const [, target] of prose.matchAll(/\]\(([^)\s]+)\)/g)) {
        links.push({ line: i + 1, target: target ?? '' })
      }
    }
  }
  if (open !== undefined) throw new Error(`${path}:${open.line}: a block that is not closed`)
  const seen = new Map<string, number>()
  const headings = found.map(({ level, text, line }, i) => {
    const next = found.slice(i + 1).find((other) => other.level <= level)
    return {
      level,
      text,
      anchor: anchorOf(text, seen),
      body: lines.slice(line + 1, next?.line).join('\n'),
    }
  })
  return { path, lines, blocks, headings, links }
}

/**
 * Returns the anchor that GitHub makes: lower case, no punctuation, dashes for spaces, a number for repeated anchors.
 */
function anchorOf(text: string, seen: Map<string, number>): string {
  const plain = text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
  const slug = plain
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')
  const times = seen.get(slug) ?? 0
  seen.set(slug, times + 1)
  return times === 0 ? slug : `${slug}-${times}`
}

/** Returns the headings of a page that consist only of code, such as "## `acquired`". */
export function codeHeadings(page: Page, level: number): (Heading & { code: string })[] {
  return page.headings.flatMap((heading) => {
    const code = /^`([^`]+)`$/.exec(heading.text)?.[1]
    return heading.level === level && code !== undefined ? [{ ...heading, code }] : []
  })
}

/** Returns the rows of the first table in a text. Each row has its cells by the names of the columns. */
export function tableRows(text: string): Record<string, string>[] {
  const lines = text.split('\n')
  const first = lines.findIndex((line) => line.startsWith('|'))
  if (first === -1) return []
  const rest = lines.slice(first)
  const end = rest.findIndex((line) => !line.startsWith('|'))
  const [head = [], , ...rows] = rest.slice(0, end === -1 ? undefined : end).map(cells)
  return rows.map((row) => Object.fromEntries(head.map((name, i) => [name, row[i] ?? ''])))
}

function cells(line: string): string[] {
  return line
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'))
}

/** The text of a cell without its code marks. */
export function plain(cell: string | undefined): string {
  return (cell ?? '').replaceAll('`', '')
}
