import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(__dirname, '..', '..', '..')

/** The words of every `ACL SETUSER` on that page: keys `~…`, channels `&…`, commands `+…`. */
export function rightsIn(page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8').replaceAll('\\\n', ' ')
  const lines = text.split('\n').filter((line) => line.includes('ACL SETUSER'))
  const words = lines.flatMap((line) => line.replaceAll("'", '').split(/\s+/))
  return [...new Set(words.filter((word) => /^[~&+]/.test(word)))]
}
