// A model of a latch, with states and steps. The latch has a count, opens at zero, and may be set again for another
// round.

/**
 * @typedef {object} LatchOperation
 * @property {'set' | 'inspect' | 'count-down' | 'await' | 'delete' | 'forget'} kind
 * @property {number} [count] the count that the operation sets
 * @property {number} [newRound] the round that a set began, if its time shows the round
 * @property {number} [round] the round that the call names; a call without it belongs to the round at the time of the
 * call
 * @property {any} [answer] undefined if it is unknown
 * @property {number} [calledAt] the time of a call that names no round
 * @property {boolean} [isLoose] true if such a call may act in the next round, because its answer was slow or the
 * time of its call is unknown
 * @property {number} [epochMs] the time in ms since 1970 at 0 on the clock of `from`; undefined if clocks were set
 * @property {number} from the time of the request
 * @property {number} to the time of the answer; Infinity if there was none: then the operation may have happened or
 * not
 * @property {number} [expiresAt] from this time on, the server refuses the request, if there was no answer
 */

/** The longest difference between the clocks of the witness and of a server on the same machine, in milliseconds. */
const CLOCKS_MS = 5

/** The count is unknown, because a server may have forgotten it. */
const ANY = { left: undefined }
const OPEN = { left: 0 }

/**
 * A state has the count that is `left`, and the number of the `round` if it is known. `setFrom` and `setTo` are the
 * earliest and the latest time of its set. `past` is the number of the round before.
 */
export const LATCH = {
  first: OPEN,
  key: ({ left, round, setFrom, past }) => `${left} ${round ?? `not ${past}`} ${setFrom}`,
  step: (state, operation) => {
    const next = STEPS[operation.kind](state, operation)
    return Array.isArray(next) && next.length === 1 ? next[0] : next
  },
  holds: () => [],
  end: () => undefined,
  /** True, because the order of the operations decides their answers. */
  isOrdered: true,
  /** True if the operation changes nothing. Then it is enough to try the first moment that explains the operation. */
  observes: ({ kind, round, answer }) =>
    kind === 'await' ||
    kind === 'inspect' ||
    (kind === 'set' && answer === false) ||
    (round !== undefined && (answer === null || answer === false)),
  /** True if the operation can no longer change anything, because its round does not return. */
  isSpent: (state, operation) =>
    state !== ANY &&
    operation.kind !== 'set' &&
    operation.round !== undefined &&
    isOver(state, operation),
}

/**
 * The number of a round is unknown until a reply has named it. Until then, the time of its set decides, if possible.
 */
const isOver = (state, operation) =>
  state.left === 0 ||
  (state.round === undefined ? !mayBeRound(state, operation) : state.round !== operation.round)
const mayBeOver = ({ left, round }, operation) => left === 0 || round !== operation.round

function mayBeRound({ past, setFrom, setTo }, { round, epochMs }) {
  if (round === past) return false
  if (epochMs === undefined || setFrom === undefined) return true
  return isSetWithin(round, setFrom, setTo, epochMs)
}

/** True if the number of the round is a time between these two times of the witness. */
export function isSetWithin(round, from, to, epochMs) {
  const setAt = round / 1_000 - epochMs
  return setAt >= from - CLOCKS_MS && setAt <= to + CLOCKS_MS
}

/** True if this round may be the round of a call that names no round. */
const isOfCall = ({ setFrom }, { calledAt, isLoose }) => isLoose || !(setFrom > calledAt)
/** True if the round of such a call may be before this round. */
const isOfEarlierCall = ({ setTo }, { calledAt, isLoose }) => isLoose || setTo > calledAt

const STEPS = {
  forget: () => ANY,

  set(state, { count, answer, from, to, newRound }) {
    const past = state.round ?? state.past
    const round = { left: count, round: newRound, setFrom: from, setTo: to, past }
    if (answer === true) return state === ANY || state.left === 0 ? round : undefined
    if (answer === false) return state.left === 0 ? undefined : state
    return state === ANY || state.left > 0 ? state : round
  },

  inspect(state, { answer, epochMs }) {
    if (answer === undefined) return state
    const { count } = answer
    // If a server evicts the mark of a round, the count has no number.
    const round = answer.round ?? undefined
    if (state === ANY) return count === 0 ? OPEN : { left: count, round }
    if (state.left !== count) return undefined
    if (count === 0 || state.round === round) return state
    if (state.round !== undefined || !mayBeRound(state, { round, epochMs })) return undefined
    return { ...state, round }
  },

  'count-down'(state, operation) {
    const { round, answer } = operation
    if (state === ANY) {
      return typeof answer === 'number' && round !== undefined ? { left: answer, round } : ANY
    }
    const after = state.left > 0 ? { ...state, left: state.left - 1 } : state
    if (round !== undefined) {
      const ways = []
      if (!isOver(state, operation) && (answer === undefined || answer === after.left)) {
        ways.push({ ...after, round })
      }
      if (mayBeOver(state, operation) && (answer === undefined || answer === null)) ways.push(state)
      return ways.length === 0 ? undefined : ways
    }
    const ways = []
    const counts = state.left > 0 && isOfCall(state, operation)
    if (counts && (answer === undefined || answer === after.left)) ways.push(after)
    const isLate = state.left === 0 || isOfEarlierCall(state, operation)
    if (isLate && (answer === undefined || answer === 0)) ways.push(state)
    return ways.length === 0 ? undefined : ways
  },

  await(state, operation) {
    const { round, answer } = operation
    if (state === ANY || answer === undefined) return state
    if (round !== undefined) {
      if (answer) return mayBeOver(state, operation) ? state : undefined
      if (isOver(state, operation)) return undefined
      return state.round === round ? state : { ...state, round }
    }
    const may = answer
      ? state.left === 0 || isOfEarlierCall(state, operation)
      : state.left > 0 && isOfCall(state, operation)
    return may ? state : undefined
  },

  delete(state, operation) {
    const { round, answer } = operation
    if (state === ANY) return answer === true ? OPEN : ANY
    const opened = { ...state, left: 0 }
    if (round !== undefined) {
      const ways = []
      if (!isOver(state, operation) && answer !== false) ways.push(opened)
      if (mayBeOver(state, operation) && answer !== true) ways.push(state)
      return ways.length === 0 ? undefined : ways
    }
    const ways = []
    if (answer !== false && state.left > 0 && isOfCall(state, operation)) ways.push(opened)
    const isLate = state.left === 0 || isOfEarlierCall(state, operation)
    if (answer !== true && isLate) ways.push(state)
    return ways.length === 0 ? undefined : ways
  },
}
