// The checker is compared with this program, which tries all orders of small histories.

interface Timed {
  from: number
  to: number
  /** An operation that never returned may have no effect after this time. */
  expiresAt?: number
}

interface Model<Op> {
  first: unknown
  step(state: unknown, op: Op): unknown
  end(state: unknown, hold: string): unknown
}

/**
 * Returns true if some order of the operations explains all their results. Operations that never returned may be left
 * out.
 */
export function isExplained<Op extends Timed>(
  model: unknown,
  operations: Op[],
  endings: (Timed & { hold: string })[] = [],
): boolean {
  const { first, step, end } = model as Model<Op>
  const after = (state: unknown, op: Op): unknown[] => {
    const next = step(state, op)
    if (next === undefined) return []
    return Array.isArray(next) ? next : [next]
  }
  // The arguments: the current state, the operations that are left, and the earliest time of the next operation.
  const go = (state: unknown, rest: Op[], at: number): boolean => {
    if (rest.every(({ to }) => to === Number.POSITIVE_INFINITY)) return true
    const latest = Math.min(...rest.map(({ to }) => to))
    for (const op of rest) {
      const now = Math.max(at, op.from)
      if (now > latest || now > (op.expiresAt ?? now)) continue
      const others = rest.filter((one) => one !== op)
      if (after(state, op).some((next) => go(next, others, now))) return true
    }
    for (const ending of endings) {
      const now = Math.max(at, ending.from)
      const next = now > latest || now > ending.to ? undefined : end(state, ending.hold)
      if (next !== undefined && go(next, rest, now)) return true
    }
    return false
  }
  return go(first, operations, Number.NEGATIVE_INFINITY)
}

/** Returns random whole numbers that depend only on the seed. */
export function numbersBelow(start: number): (n: number) => number {
  let seed = start
  return (n) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((seed / 2 ** 32) * n)
  }
}
