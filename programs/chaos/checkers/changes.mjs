// Whether the event `changed` of an election tells of each term once, and never of an older one after a newer one.

/**
 * @param changes what was told, in the order of time
 * @returns how many were judged, and pairs that are wrong: `{ lock, what, first, second }`
 */
export function judgeChanges(changes) {
  const verdict = { judged: 0, found: [] }
  const seen = new Map()
  for (const one of changes) {
    const { lock, process, era, token } = one
    // Nobody leads, or the server has lost the token.
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
