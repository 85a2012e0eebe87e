// What a lock is, as states and steps: the five models of Hazelcast's Jepsen suite, and a read-write lock. A step is
// given a state and an operation, and answers the next state, or undefined where the lock could not have done that.

/**
 * @typedef {object} Operation
 * @property {'acquire' | 'release'} kind
 * @property {string | number} hold who holds: all of one hold have the same
 * @property {boolean} [again] of an acquisition: it must be a re-entry
 * @property {number} [token] undefined where it is not known
 * @property {'read' | 'upgradable' | 'write'} [mode] of an acquisition of a read-write lock
 * @property {number} [forgottenBelow] of a reader: it may not have been told of tokens below that
 * @property {string | number} [owner] the same for all holds of one owner of a read-write lock; left out, it is the hold
 * @property {number} [permits] 1 where it is not said
 * @property {boolean} [held] of a release: true where it was held until then, false where the hold was gone
 * already, undefined where it is not known
 * @property {boolean} [anyway] its result says nothing, for the hold could be taken away meanwhile
 * @property {number} from when it was asked for
 * @property {number} to when it came back; Infinity where it never did
 */

const FREE = null
const NOBODY = []

/** A lock of one owner at a time, who may hold it `most` times at once. */
export function mutex({ most, fenced }) {
  return {
    /** Whether tokens must rise. */
    fenced,
    first: { hold: FREE, count: 0, token: -Infinity },
    key: ({ hold, count, token }) => `${hold} ${count} ${token}`,
    step: (state, operation) =>
      operation.kind === 'acquire'
        ? acquired(state, operation, most, fenced)
        : released(state, operation),
    /** Who has it. */
    holds: ({ hold }) => (hold === FREE ? NOBODY : [hold]),
    /** What holds must end before an operation can be done. */
    blockers: (state, { kind, hold, held }) => {
      if (state.hold === FREE) return NOBODY
      const isInTheWay = kind === 'acquire' ? state.hold !== hold : held === false
      return isInTheWay ? [state.hold] : NOBODY
    },
    /** The hold ends by itself. */
    end: (state, hold) => (state.hold === hold ? { ...state, hold: FREE, count: 0 } : undefined),
  }
}

function acquired(state, { hold, again, anyway, token }, most, fenced) {
  if (state.hold === hold) {
    const same = !fenced || token === undefined || token === state.token
    return state.count < most && same ? { ...state, count: state.count + 1 } : undefined
  }
  if (again) return anyway ? state : undefined
  if (state.hold !== FREE) return undefined
  if (!fenced || token === undefined) return { hold, count: 1, token: state.token }
  return token > state.token ? { hold, count: 1, token } : undefined
}

function released(state, { hold, held, anyway }) {
  if (state.hold !== hold) return held === true && !anyway ? undefined : state
  if (held === false) return anyway ? state : undefined
  return state.count > 1 ? { ...state, count: state.count - 1 } : { ...state, hold: FREE, count: 0 }
}

/**
 * `most` permits, of which each hold has some.
 *
 * @param fenced whether each acquisition has a token above all before
 */
export function permits(most, { fenced = false } = {}) {
  const next = (state, hold, change, token = state.token) => {
    const all = new Map(state.all)
    const own = (all.get(hold) ?? 0) + change
    if (own === 0) all.delete(hold)
    else all.set(hold, own)
    return { used: state.used + change, all, token }
  }
  return {
    fenced,
    first: { used: 0, all: new Map(), token: -Infinity },
    key: ({ all, token }) => `${token} ${JSON.stringify([...all].sort())}`,
    step: (state, { kind, hold, held, anyway, token, permits: wanted = 1 }) => {
      const own = state.all.get(hold) ?? 0
      if (kind === 'acquire') {
        if (state.used + wanted > most) return undefined
        if (!fenced || token === undefined) return next(state, hold, wanted)
        return token > state.token ? next(state, hold, wanted, token) : undefined
      }
      if (held !== false && own >= wanted) return next(state, hold, -wanted)
      return anyway || (held !== true && own === 0) ? state : undefined
    },
    holds: ({ all }) => [...all.keys()],
    /** Each of them may be the one that has what is missing. */
    blockers: ({ all }, { kind, hold, held }) => {
      if (kind === 'acquire') return [...all.keys()]
      return held === false && all.has(hold) ? [hold] : NOBODY
    },
    end: (state, hold) =>
      state.all.has(hold) ? next(state, hold, -state.all.get(hold)) : undefined,
  }
}

/**
 * Many readers, one of whom may go on to write, or one writer. An owner may have holds in several modes.
 *
 * @param fenced whether a writer has a token above all before, and a reader one that is not below them
 */
export function readWrite({ fenced }) {
  return {
    fenced,
    first: { holds: NOBODY, token: -Infinity },
    key: ({ holds, token }) => {
      const words = holds.map(({ hold, mode, count }) => `${hold}/${mode}/${count}`)
      return `${token} ${words.sort().join()}`
    },
    step: (state, operation) =>
      operation.kind === 'acquire'
        ? acquiredInMode(state, operation, fenced)
        : releasedInMode(state, operation),
    holds: ({ holds }) => holds.map(({ hold }) => hold),
    blockers: ({ holds }, operation) => {
      const { kind, hold, mode, owner = hold, held } = operation
      const isInTheWay = (one) =>
        kind === 'acquire'
          ? one.owner !== owner && areExclusive(mode, one.mode)
          : one.hold === hold && held === false
      const first = holds.find(isInTheWay)
      // A token that has risen tells of a writer that nobody knows of, and that nobody was beside.
      if (first === undefined && kind === 'acquire') return holds.slice(0, 1).map((one) => one.hold)
      return first === undefined ? NOBODY : [first.hold]
    },
    end: (state, hold) => {
      const holds = state.holds.filter((one) => one.hold !== hold)
      return holds.length < state.holds.length ? { ...state, holds } : undefined
    },
  }
}

function acquiredInMode(state, operation, fenced) {
  const { hold, again, anyway, mode, owner = hold, token } = operation
  const held = state.holds.find((one) => one.hold === hold)
  if (held !== undefined) return withCount(state, held, held.count + 1)
  if (again) return anyway ? state : undefined
  const others = state.holds.filter((one) => one.owner !== owner)
  if (others.some((one) => areExclusive(mode, one.mode))) return undefined
  const holds = [...state.holds, { hold, owner, mode, count: 1 }]
  if (!fenced || token === undefined) return { ...state, holds }
  if (mode === 'write') return token > state.token ? { holds, token } : undefined
  const isForgotten = state.token < (operation.forgottenBelow ?? -Infinity)
  // Between two writers all have the same. What nobody knows of may have been a writer, where nobody has it now.
  const isRight = token === state.token || (token > state.token && state.holds.length === 0)
  if (!isRight && !isForgotten) return undefined
  return { holds, token: Math.max(token, state.token) }
}

const areExclusive = (mode, other) =>
  mode === 'write' || other === 'write' || (mode === 'upgradable' && other === 'upgradable')

function releasedInMode(state, { hold, held, anyway }) {
  const one = state.holds.find((some) => some.hold === hold)
  if (one === undefined) return held === true && !anyway ? undefined : state
  if (held === false) return anyway ? state : undefined
  return withCount(state, one, one.count - 1)
}

function withCount(state, held, count) {
  const others = state.holds.filter((one) => one !== held)
  return { ...state, holds: count === 0 ? others : [...others, { ...held, count }] }
}

/** By name; permits are counted, so they are made with their number. */
export const MODELS = {
  mutex: mutex({ most: 1, fenced: false }),
  'fenced mutex': mutex({ most: 1, fenced: true }),
  're-entrant mutex': mutex({ most: Infinity, fenced: false }),
  're-entrant fenced mutex': mutex({ most: Infinity, fenced: true }),
  'read-write lock': readWrite({ fenced: false }),
  'fenced read-write lock': readWrite({ fenced: true }),
}
