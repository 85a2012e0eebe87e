// Finds the shortest part of a history that the model still does not explain, by delta debugging (Zeller's ddmin).

/**
 * @param all independent parts
 * @param isConvicted true if the given parts alone have the finding
 * @returns some of the parts, in their order; none of them can be left out
 */
export function shrink(all, isConvicted) {
  let rest = all
  let size = Math.ceil(rest.length / 2)
  while (rest.length > 1) {
    const smaller = withoutSome(rest, size, isConvicted)
    if (smaller !== undefined) {
      rest = smaller
      size = Math.min(size, Math.ceil(rest.length / 2))
    } else if (size === 1) break
    else size = Math.ceil(size / 2)
  }
  return rest
}

function withoutSome(all, size, isConvicted) {
  for (let at = 0; at < all.length; at += size) {
    const rest = [...all.slice(0, at), ...all.slice(at + size)]
    if (rest.length > 0 && isConvicted(rest)) return rest
  }
}

/**
 * Does the same for a long list in which the last parts, with some parts shortly before them, cause the finding.
 *
 * @param all in the order of time
 */
export function shrinkFromTheEnd(all, isConvicted) {
  for (let count = 2; count < all.length; count *= 4) {
    const last = all.slice(-count)
    if (isConvicted(last)) return shrink(last, isConvicted)
  }
  return shrink(all, isConvicted)
}
