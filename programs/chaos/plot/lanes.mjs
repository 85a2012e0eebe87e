/**
 * Puts what overlaps side by side.
 *
 * @param all `[from, to]` of each, in the order of `from`
 * @returns the lane of each, and how many there are
 */
export function lanesOf(all) {
  const ends = []
  const of = all.map(([from, to]) => {
    let lane = ends.findIndex((end) => end <= from)
    if (lane === -1) lane = ends.length
    ends[lane] = to
    return lane
  })
  return { of, count: Math.max(1, ends.length) }
}
