import type { HolderFacts } from '../answers.ts'
import type { CallFailure } from '../call-failure.ts'
import { askAll } from './ask-all.ts'
import { answersOf, type Majority, mostOften, type Votes } from './majority.ts'
import type { Master } from './master.ts'

/**
 * What masters know of a lock: each of a majority, at least.
 *
 * @param failure what is thrown when no majority answers
 */
export async function inspectMost<F extends HolderFacts>(
  masters: readonly Master[],
  size: Majority,
  ask: (master: Master) => Promise<F>,
  failure: (votes: Votes<F>) => CallFailure,
): Promise<F[]> {
  const votes = await askAll(masters, ask, (some) => {
    const most = mostOften(answersOf(some).map(({ holder }) => holder))
    return (most?.times ?? 0) >= size.majority && 'nearly'
  })
  const facts = answersOf(votes)
  if (facts.length < size.majority) throw failure(votes)
  return facts
}

/** All of them together; null where one does not tell, for others may share the rest. */
export async function identifyAll(
  masters: readonly Master[],
  size: Majority,
  callMs: number,
): Promise<string | null> {
  const votes = await askAll(
    masters,
    (master) => master.identify(callMs),
    (some) => answersOf(some).length >= size.majority && 'nearly',
  )
  const ids = answersOf(votes)
  return ids.length < size.all || ids.includes(null) ? null : ids.sort().join()
}
