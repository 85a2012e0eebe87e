/**
 * Puts overlapping intervals into different lanes.
 *
 * @param all `[from, to]` of each interval, in the order of `from`
 * @returns the lane of each interval, and the number of lanes
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
