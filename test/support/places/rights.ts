import { type Page, readPage } from '../../repo/docs/pages.ts'

const page = readPage('docs/reference/acl.md')

/** The words of the list of a kind of lock or a tool in docs/reference/acl.md: keys `~…`, channels `&…`, commands `+…`. */
export function rightsOf(title: string): string[] {
  const ofTitle = page.headings.filter(({ text }) => text.split(', ').includes(`\`${title}\``))
  if (ofTitle.length !== 1) throw new Error(`The page of the rights has no list for ${title}`)
  return wordsOfRights(ofTitle[0]?.body ?? '')
}

/** The words of all lists of kinds, and of all additional rights that options need. */
export function rightsOfAllKinds(): string[] {
  return wordsOfRights(bodyOf('Additional rights') + bodyOf('Kinds'))
}

/**
 * The words of the first list of additional rights that contains `word`, for example the list for an option or for a
 * cluster.
 */
export function additionalRights(word: string): string[] {
  const lists = bodyOf('Additional rights').split('```sh')
  return wordsOfRights(lists.find((one) => one.includes('ACL SETUSER') && one.includes(word)) ?? '')
}

/** Converts a list for a login without a prefix, by the rule of the page. */
export function withoutPrefix(words: readonly string[]): string[] {
  const isOfLocks = words.includes('~app:*')
  const others = words.filter((word) => !isOfLocks || !word.startsWith('~'))
  const channels = others.map((word) => word.replace('{app:', ''))
  return isOfLocks ? ['~*', ...channels] : channels
}

function bodyOf(heading: string, { headings }: Page = page): string {
  return headings.find(({ text }) => text === heading)?.body ?? ''
}

/** Returns the rights that all `ACL SETUSER` lines of a text give. */
export function wordsOfRights(text: string): string[] {
  const lines = text.replaceAll('\\\n', ' ').split('\n')
  const words = lines
    .filter((line) => line.includes('ACL SETUSER'))
    .flatMap((line) => line.replaceAll("'", '').split(/\s+/))
  return [...new Set(words.filter((word) => /^[~&+]/.test(word)))]
}
