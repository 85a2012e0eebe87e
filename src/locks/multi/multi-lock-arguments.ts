import { InvalidArgumentError } from '../../errors.ts'
import { behind, otherCopy } from '../../kit/handle.ts'
import { show } from '../../kit/show.ts'
import { HoldfastLock } from '../lock/holdfast-lock.ts'

/**
 * Returns the locks of a multi-lock.
 *
 * @param given the arguments of `getMultiLock`
 * @param partsOf returns the locks of a multi-lock; undefined for any other value
 * @throws `InvalidArgumentError` without an argument, and for a value that is not a lock of this
 * copy of Holdfast
 */
export function locksOf(
  given: readonly unknown[],
  partsOf: (lock: unknown) => readonly HoldfastLock[] | undefined,
): HoldfastLock[] {
  if (given.length === 0) {
    throw new InvalidArgumentError('getMultiLock(...locks) needs at least one lock; got none.')
  }
  return given.flatMap((lock) => {
    const one = behind(lock, HoldfastLock)
    if (one !== undefined) return [one]
    const several = partsOf(lock)
    if (several !== undefined) return [...several]
    const name = Object(lock).name
    const other = otherCopy(lock, `the lock ${show(name)}`)
    if (other !== undefined) {
      throw new InvalidArgumentError(`getMultiLock(...locks): ${other}.`, name)
    }
    throw new InvalidArgumentError(
      `getMultiLock(...locks) takes locks of Holdfast, each as its own argument; got ${show(lock)}.`,
    )
  })
}
