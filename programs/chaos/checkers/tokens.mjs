// Checks that tokens show the order of holders, for each kind of primitive.
import { forgottenTokens } from './windows.mjs'

/** Readers share the token of the last writer. */
const mayRepeat = ({ mode }) => mode === 'read' || mode === 'upgradable'

/**
 * A holder that asked after another holder had entered has a higher token. A reader has the same or a higher token.
 *
 * @param all the holds of one lock, in the order in which the holders entered
 * @param epochMs the time in ms since 1970 at 0 on the clock of these holds
 * @returns pairs: `regressions`, and `repeated` tokens
 */
export function judgeTokens(lock, all, forgotten, epochMs) {
  const verdict = { regressions: [], repeated: [] }
  // A permit without a lease has no token.
  if (all[0]?.family === 'semaphore') return verdict
  const forgottenBelow = forgottenTokens(forgotten, epochMs)
  const highest = []
  const tokens = new Map()
  for (const hold of all) {
    const before = lastBefore(all, hold.askedAt, highest.length)
    const floor = before === -1 ? undefined : highest[before]
    const isForgotten = (token) => mayRepeat(hold) && token < forgottenBelow(hold.enteredAt)
    if (floor !== undefined && isBehind(hold, floor) && !isForgotten(floor.token)) {
      verdict.regressions.push({ lock, first: floor, second: hold })
    }
    if (!mayRepeat(hold) && hold.token !== undefined) {
      const same = tokens.get(hold.token)
      if (same !== undefined) verdict.repeated.push({ lock, first: same, second: hold })
      tokens.set(hold.token, hold)
    }
    const top = highest.at(-1)
    highest.push(top === undefined || hold.token > top.token ? hold : top)
  }
  return verdict
}

const isBehind = (hold, floor) =>
  mayRepeat(hold) ? hold.token < floor.token : hold.token <= floor.token

/** The index of the last hold, among the first `count`, that began before that time. */
function lastBefore(all, at, count) {
  let [low, high] = [0, count]
  while (low < high) {
    const middle = (low + high) >> 1
    if (all[middle].enteredAt < at) low = middle + 1
    else high = middle
  }
  return low - 1
}
