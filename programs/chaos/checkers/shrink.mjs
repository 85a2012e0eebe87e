// The shortest part of a history that still cannot be explained, by delta debugging (Zeller's ddmin).

/**
 * @param all parts that stand for themselves
 * @param isConvicted whether these alone are
 * @returns some of them, in their order, none of which can be left out
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
 * The same, of a long list whose last ones are to blame with some that are mostly near.
 *
 * @param all in the order in which they came
 */
export function shrinkFromTheEnd(all, isConvicted) {
  for (let count = 2; count < all.length; count *= 4) {
    const last = all.slice(-count)
    if (isConvicted(last)) return shrink(last, isConvicted)
  }
  return shrink(all, isConvicted)
}
