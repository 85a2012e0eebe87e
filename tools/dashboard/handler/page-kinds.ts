import { KINDS } from '../../kinds/all.ts'
import type { PageWords } from '../../kinds/kind.ts'

/** The words for a lock, and for a kind without words of its own. */
const USUAL: PageWords = {
  holder: ['Holder', 'Holders'],
  heldFor: 'held for ',
  waiting: 'Waiting',
  what: 'lock',
  it: 'lock is',
  holdsPermits: false,
  endless: 'bad',
  stateClass: null,
  unusable: null,
}

const words = KINDS.map(({ kind, countsWaiters = true, page }) => {
  return [kind, { ...USUAL, ...page, countsWaiters }] as const
})

/** The file `kinds.js` of the page, which has the words of each kind. */
export const pageKinds = `const usual = ${JSON.stringify({ ...USUAL, countsWaiters: true })}
const words = ${JSON.stringify(Object.fromEntries(words))}
export const wordsOf = (kind) => words[kind] ?? usual
`
