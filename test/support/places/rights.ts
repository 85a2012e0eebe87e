import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(__dirname, '..', '..', '..')

/** What every `ACL SETUSER` on that page gives: keys `~…`, channels `&…`, commands `+…`. */
export function rightsIn(page: string): string[] {
  return wordsOfRights(readFileSync(join(root, page), 'utf8'))
}

/** Of such a page the words of the `ACL SETUSER` that has this one; none where there is none. */
export function rightsWith(
  word: string,
  { blocks }: { readonly blocks: readonly { readonly body: string }[] },
): string[] {
  const has = ({ body }: { body: string }) => body.includes('ACL SETUSER') && body.includes(word)
  return wordsOfRights(blocks.find(has)?.body ?? '')
}

/** The same of a text. */
export function wordsOfRights(text: string): string[] {
  const lines = text.replaceAll('\\\n', ' ').split('\n')
  const words = lines
    .filter((line) => line.includes('ACL SETUSER'))
    .flatMap((line) => line.replaceAll("'", '').split(/\s+/))
  return [...new Set(words.filter((word) => /^[~&+]/.test(word)))]
}
