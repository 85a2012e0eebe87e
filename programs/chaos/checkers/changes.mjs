// Checks that the event `changed` of an election reports each term once, and never an older term after a newer term.

/**
 * @param changes the reports of the event, in the order of time
 * @returns the number of judged reports, and wrong pairs: `{ lock, what, first, second }`
 */
export function judgeChanges(changes) {
  const verdict = { judged: 0, found: [] }
  const seen = new Map()
  for (const one of changes) {
    const { lock, process, era, token } = one
    // No candidate leads, or the server has lost the token.
    if (token === null) continue
    verdict.judged += 1
    const key = `${lock} ${process} ${era}`
    const last = seen.get(key)
    if (last !== undefined && token < last.token) {
      verdict.found.push({
        lock,
        what: 'an older term was told after a newer one',
        first: last,
        second: one,
      })
    } else if (last?.token === token) {
      verdict.found.push({ lock, what: 'one term was told twice', first: last, second: one })
    } else seen.set(key, one)
  }
  return verdict
}
