// Compares the history of each lock with a model of the lock.
import { LATCH } from './latch-model.mjs'
import { latchOperationsOf } from './latch-operations.mjs'
import { linearize } from './linearizable.mjs'
import { MODELS, permits } from './models.mjs'
import { operationsOf } from './operations.mjs'
import { shrinkFromTheEnd } from './shrink.mjs'

/**
 * A search is undecided after this many configurations. The smaller number is enough for nearly all locks. The larger
 * number takes a minute and a half.
 */
const [FEWER, MOST] = [20_000, 200_000]
/** The longest search for a shorter part of a history, in milliseconds. */
const LONGEST_SEARCH_MS = 10_000
/** The most operations of a latch that are shown, up to the operation that the model does not explain. */
const MOST_SHOWN = 24

/**
 * @param {{ isShortened?: boolean, most?: number }} how `isShortened`: true to search for the shortest part; `most`:
 * after this many configurations, the search is undecided
 * @returns undefined if the model explains all operations; otherwise the finding, with the shortest part that the
 * model does not explain either
 */
export function judgeAsModel(lock, attempts, history, how = {}) {
  const { isShortened = true, most = FEWER } = how
  // The judge of the rounds explains all calls of a barrier.
  if (attempts[0]?.family === 'barrier') return undefined
  const isLatch = attempts[0]?.family === 'latch'
  const said = isLatch ? latchOperationsOf(attempts, history) : operationsOf(attempts, history)
  const { name, model, unfenced = model } = modelOf(attempts, said)
  const { verdict, at } = linearize(model, said, { most })
  if (verdict === 'linearizable') return undefined
  if (verdict === 'undecided') {
    if (how.most === undefined)
      return judgeAsModel(lock, attempts, history, { isShortened, most: MOST })
    return { lock, model: name, verdict, shortest: [] }
  }
  if (isLatch) return { lock, model: name, verdict, shortest: lastOf(said, at) }
  const { verdict: withoutTokens } = linearize(unfenced, said)
  const parts = partsOf(said, at.to)
  const until = performance.now() + LONGEST_SEARCH_MS
  const isIt = (some) =>
    performance.now() < until && linearize(model, together(some)).verdict === 'convicted'
  const shortest = isShortened ? withoutReentries(shrinkFromTheEnd(parts, isIt), isIt) : []
  return {
    lock,
    model: name,
    verdict,
    /** The verdict on the history without its tokens. */
    withoutTokens,
    shortest: [...new Set(shortest.flatMap(({ attempts: some }) => some))],
  }
}

/** The model of the lock, and the same model without tokens. */
function modelOf([{ family = 'lock', most }], { operations }) {
  if (family === 'latch') return { name: 'latch', model: LATCH }
  if (family === 'permits' || family === 'semaphore') {
    // A permit without a lease has no token.
    const model = permits(most, { fenced: family === 'permits' })
    return { name: `semaphore of ${most} permits`, model, unfenced: permits(most) }
  }
  const isReentrant = operations.some(({ again }) => again)
  const bare = family === 'read-write' ? 'read-write lock' : 'mutex'
  const prefix = isReentrant && bare === 'mutex' ? 're-entrant ' : ''
  const name = `${prefix}fenced ${bare}`
  return { name, model: MODELS[name], unfenced: MODELS[`${prefix}${bare}`] }
}

/**
 * The answer to an operation of a latch depends on the operations before it. So the last of these operations are
 * shown.
 */
function lastOf({ operations }, at) {
  const until = at.to === Infinity ? at.expiresAt : at.to
  const before = operations.filter(({ from, attempt }) => from <= until && attempt.id !== undefined)
  return before.slice(-MOST_SHOWN).map(({ attempt }) => attempt)
}

/**
 * The parts that the search may leave out, in the order of time. A part is a hold with all its operations. The parts
 * have only requests from before the return that the model does not explain.
 */
function partsOf({ operations, endings }, until) {
  const parts = new Map()
  const partOf = (hold) => {
    const part = parts.get(hold) ?? { attempts: [], operations: [], endings: [] }
    parts.set(hold, part)
    return part
  }
  for (const one of operations) {
    if (one.from > until) continue
    const part = partOf(one.hold)
    // A return after `until` was not known at `until`, so it is left out.
    part.operations.push(one.to > until ? { ...one, to: Infinity } : one)
    part.attempts.push(one.attempt)
  }
  for (const one of endings) parts.get(one.hold)?.endings.push(one)
  const lastOf = ({ operations: some }) =>
    Math.max(...some.map(({ from, to }) => (to === Infinity ? from : to)))
  return [...parts.values()].sort((a, b) => lastOf(a) - lastOf(b))
}

/** Leaves the re-entries out of a hold, if they are not the reason for the finding. */
function withoutReentries(parts, isIt) {
  const bare = parts.map((part) => ({
    attempts: part.attempts.filter((one) => one.within === undefined),
    operations: part.operations.filter(({ attempt }) => attempt.within === undefined),
    endings: part.endings,
  }))
  return isIt(bare) ? bare : parts
}

function together(parts) {
  return {
    operations: parts.flatMap(({ operations }) => operations),
    endings: parts.flatMap(({ endings }) => endings),
  }
}
