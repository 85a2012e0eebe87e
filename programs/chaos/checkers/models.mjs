// Models of locks, with states and steps: the five models of the Jepsen suite of Hazelcast, and a read-write lock. A
// step gets a state and an operation, and returns the next state. It returns undefined if the lock cannot do the
// operation.

/**
 * @typedef {object} Operation
 * @property {'acquire' | 'release'} kind
 * @property {string | number} hold the same for all operations of one hold
 * @property {boolean} [again] of an acquisition: true if it must be a re-entry
 * @property {number} [token] undefined if it is unknown
 * @property {'read' | 'upgradable' | 'write'} [mode] of an acquisition of a read-write lock
 * @property {number} [forgottenBelow] of a reader: a server may have forgotten tokens below this number
 * @property {string | number} [owner] the same for all holds of one owner of a read-write lock; the hold if it is
 * undefined
 * @property {number} [permits] 1 if it is undefined
 * @property {boolean} [held] of a release: true if it ended the hold, false if the hold was already gone, undefined
 * if this is unknown
 * @property {boolean} [anyway] true if the result proves nothing, because the hold could be taken away meanwhile
 * @property {number} from the time of the request
 * @property {number} to the time of the answer; Infinity if there was none
 */

const FREE = null
const NOBODY = []

/** A lock with one owner at a time, which may hold the lock `most` times at once. */
export function mutex({ most, fenced }) {
  return {
    /** True if tokens must rise. */
    fenced,
    first: { hold: FREE, count: 0, token: -Infinity },
    key: ({ hold, count, token }) => `${hold} ${count} ${token}`,
    step: (state, operation) =>
      operation.kind === 'acquire'
        ? acquired(state, operation, most, fenced)
        : released(state, operation),
    /** The holds of a state. */
    holds: ({ hold }) => (hold === FREE ? NOBODY : [hold]),
    /** The holds that must end before the operation can happen. */
    blockers: (state, { kind, hold, held }) => {
      if (state.hold === FREE) return NOBODY
      const isInTheWay = kind === 'acquire' ? state.hold !== hold : held === false
      return isInTheWay ? [state.hold] : NOBODY
    },
    /** The state after the hold has ended by itself. */
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
 * A semaphore with `most` permits. Each hold has some of them.
 *
 * @param fenced true if the token of each acquisition is greater than all earlier tokens
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
    /** Each hold may have the missing permits. */
    blockers: ({ all }, { kind, hold, held }) => {
      if (kind === 'acquire') return [...all.keys()]
      return held === false && all.has(hold) ? [hold] : NOBODY
    },
    end: (state, hold) =>
      state.all.has(hold) ? next(state, hold, -state.all.get(hold)) : undefined,
  }
}

/**
 * Many readers, of which one may upgrade to writing, or one writer. An owner may have holds in several modes.
 *
 * @param fenced true if the token of a writer is greater than all earlier tokens, and the token of a reader is not
 * lower
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
      // A higher token shows that there was an unknown writer. No other hold was beside this writer.
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
  // All readers between two writers have the same token. If no hold exists now, an unknown hold may have been a
  // writer.
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

/** The models by name. Semaphores are not in this list, because their model depends on the number of permits. */
export const MODELS = {
  mutex: mutex({ most: 1, fenced: false }),
  'fenced mutex': mutex({ most: 1, fenced: true }),
  're-entrant mutex': mutex({ most: Infinity, fenced: false }),
  're-entrant fenced mutex': mutex({ most: Infinity, fenced: true }),
  'read-write lock': readWrite({ fenced: false }),
  'fenced read-write lock': readWrite({ fenced: true }),
}
