import { WHERE_USAGE } from '../../tools/servers/where.ts'
import { type Page, plain, tableRows } from '../repo/docs/pages.ts'

/** The options that a usage text names, without the options that every command has. */
export function optionsOf(usage: string): string[] {
  return namesIn(usage.replace(WHERE_USAGE, ''))
}

/** The options that the tables of a page explain. */
export function documentedOptions({ lines }: Page): string[] {
  return rowsOf(lines).flatMap(({ option = '' }) => namesIn(plain(option)))
}

/**
 * The options of a usage text whose default is a number, with this number, and the same options in the tables of a
 * page.
 */
export function defaultsOf(usage: string, { lines }: Page) {
  const entry = /^ {2}(?:-\w, )?--([\w-]+)[^\n]*(?:\n {20,}[^\n]*)*/gm
  const given = [...usage.replace(WHERE_USAGE, '').matchAll(entry)].flatMap(([text, name]) => {
    const value = /\((?:default )?(\d[\d_,]*)/.exec(text)?.[1]
    return value === undefined ? [] : [`--${name} ${value}`]
  })
  const rows = rowsOf(lines)
  const told = given.map((one) => {
    const [name = ''] = one.split(' ')
    const row = rows.find(({ option = '' }) => namesIn(plain(option)).includes(name))
    return `${name} ${/^\d+/.exec(plain(row?.default))?.[0]}`
  })
  return { given, told }
}

export function namesIn(text: string): string[] {
  return [...new Set(text.match(/(?<![\w-])--[a-z][\w-]*/g))].sort()
}

/** The rows of all tables that have a column "option". */
function rowsOf(lines: readonly string[]) {
  return lines
    .join('\n')
    .split('\n\n')
    .flatMap(tableRows)
    .filter((row) => row.option !== undefined)
}
