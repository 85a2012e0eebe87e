// Each lock against the model of what it is.
import { LATCH } from './latch-model.mjs'
import { latchOperationsOf } from './latch-operations.mjs'
import { linearize } from './linearizable.mjs'
import { MODELS, permits } from './models.mjs'
import { operationsOf } from './operations.mjs'
import { shrinkFromTheEnd } from './shrink.mjs'

/**
 * Of how many configurations a search is undecided. The smaller number is enough for nearly all locks. The larger one
 * takes a minute and a half.
 */
const [FEWER, MOST] = [20_000, 200_000]
/** For so long a shorter part is looked for, in milliseconds. */
const LONGEST_SEARCH_MS = 10_000
/** Of how many operations of a latch, up to the one that cannot be explained. */
const MOST_SHOWN = 24

/**
 * @param {{ isShortened?: boolean, most?: number }} how whether the shortest part is looked for, and of how many
 * configurations it is undecided
 * @returns undefined where all can be explained; else what was found, and the shortest part of it that
 * cannot be explained either
 */
export function judgeAsModel(lock, attempts, history, how = {}) {
  const { isShortened = true, most = FEWER } = how
  // The judge of its rounds explains all calls of a barrier.
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
    /** Whether it can be explained when one does not look at the tokens. */
    withoutTokens,
    shortest: [...new Set(shortest.flatMap(({ attempts: some }) => some))],
  }
}

/** What the attempts are of, and the same without tokens. */
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

/** What each operation of a latch is answered depends on those before it: the last of them are shown. */
function lastOf({ operations }, at) {
  const until = at.to === Infinity ? at.expiresAt : at.to
  const before = operations.filter(({ from, attempt }) => from <= until && attempt.id !== undefined)
  return before.slice(-MOST_SHOWN).map(({ attempt }) => attempt)
}

/**
 * What can be left out as a whole, in the order of time: a hold with all that was done in its name, and what
 * was asked until the return that cannot be explained.
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
    // What came back later is not known of yet.
    part.operations.push(one.to > until ? { ...one, to: Infinity } : one)
    part.attempts.push(one.attempt)
  }
  for (const one of endings) parts.get(one.hold)?.endings.push(one)
  const lastOf = ({ operations: some }) =>
    Math.max(...some.map(({ from, to }) => (to === Infinity ? from : to)))
  return [...parts.values()].sort((a, b) => lastOf(a) - lastOf(b))
}

/** A hold stays without what re-entered it, where that is not to blame. */
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
