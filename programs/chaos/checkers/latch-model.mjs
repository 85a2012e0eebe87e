// What a latch is, as states and steps: a count that opens it at zero, and that is set again for another round.

/**
 * @typedef {object} LatchOperation
 * @property {'set' | 'inspect' | 'count-down' | 'await' | 'delete' | 'forget'} kind
 * @property {number} [count] that is set
 * @property {number} [newRound] the round that a set began, if its time tells
 * @property {number} [round] the round that is named; without it the call belongs to the round in which it was made
 * @property {any} [answer] undefined where it is not known
 * @property {number} [calledAt] when it was called, of one that names no round
 * @property {boolean} [isLoose] of such a call: its answer was slow, or nobody knows when it was called, so that it may act in the next round
 * @property {number} [epochMs] the time in ms since 1970 at 0 on the clock of `from`; left out if clocks were set
 * @property {number} from when it was asked for
 * @property {number} to when it came back; Infinity where it never did: then it may have been done or not
 * @property {number} [expiresAt] from when on it is refused, where it never came back
 */

/** The clocks of the witness and of a server of the same machine may differ by this, in milliseconds. */
const CLOCKS_MS = 5

/** Nobody knows: a server may have forgotten. */
const ANY = { left: undefined }
const OPEN = { left: 0 }

/**
 * A state: what is `left`, the number of the `round` when it is known, from when to when its count was being set
 * (`setFrom`, `setTo`), and the number of the round before (`past`).
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
  /** What was done first decides what the others are answered. */
  isOrdered: true,
  /** Whether it changes nothing: then the first moment that explains it is as good as any. */
  observes: ({ kind, round, answer }) =>
    kind === 'await' ||
    kind === 'inspect' ||
    (kind === 'set' && answer === false) ||
    (round !== undefined && (answer === null || answer === false)),
  /** Whether it can change nothing from this state on. A round does not come again. */
  isSpent: (state, operation) =>
    state !== ANY &&
    operation.kind !== 'set' &&
    operation.round !== undefined &&
    isOver(state, operation),
}

/** The number of a round is unknown until a reply has named it. Then the time of its set decides, as far as it can. */
const isOver = (state, operation) =>
  state.left === 0 ||
  (state.round === undefined ? !mayBeRound(state, operation) : state.round !== operation.round)
const mayBeOver = ({ left, round }, operation) => left === 0 || round !== operation.round

function mayBeRound({ past, setFrom, setTo }, { round, epochMs }) {
  if (round === past) return false
  if (epochMs === undefined || setFrom === undefined) return true
  return isSetWithin(round, setFrom, setTo, epochMs)
}

/** Whether the number of the round is a time between these two, on the clock of the witness. */
export function isSetWithin(round, from, to, epochMs) {
  const setAt = round / 1_000 - epochMs
  return setAt >= from - CLOCKS_MS && setAt <= to + CLOCKS_MS
}

/** Whether this round may be that of a call that names none. */
const isOfCall = ({ setFrom }, { calledAt, isLoose }) => isLoose || !(setFrom > calledAt)
/** Whether the round of such a call may be one before this. */
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
    // A server that evicts the mark of a round leaves a count without a number.
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
