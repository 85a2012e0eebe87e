// The findings as places in the picture.

/** @returns `{ lock, what, from, to }` for each finding */
export function findingsOf({ unexplained, lost, stale, inversions, liveness }) {
  const span = (lock, what, attempts) => {
    const times = attempts.flatMap((one) => [
      one.enteredAt ?? one.settledAt ?? one.askedAt,
      endOf(one),
    ])
    return times.length === 0
      ? []
      : [{ lock, what, from: Math.min(...times), to: Math.max(...times) }]
  }
  const pairs = (what, all) =>
    all.flatMap(({ lock, first, second }) => span(lock, what, [first, second]))
  return [
    ...unexplained.flatMap(({ lock, shortest }) => span(lock, 'cannot be explained', shortest)),
    ...pairs('lost update', lost),
    ...pairs('stale token accepted', stale),
    ...pairs('served out of order', inversions),
    ...liveness.stuck.map(({ lock, from, waitedMs }) => {
      return { lock, what: 'nobody let in', from, to: from + waitedMs }
    }),
  ]
}

/** Until when the attempt had the lock, or waited for it. */
export function endOf({ releasedAt, leftAt, validUntil, enteredAt, settledAt, askedAt }) {
  return releasedAt ?? leftAt ?? Math.max(validUntil, enteredAt ?? settledAt ?? askedAt)
}
