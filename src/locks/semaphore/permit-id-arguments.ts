import { InvalidArgumentError } from '../../errors.ts'
import { show } from '../../kit/show.ts'
import { assertNoMore } from '../../options/input.ts'

/**
 * The largest number of ids in one call. The server serves no other client while it releases these
 * permits.
 */
const MOST_IDS = 5_000

/**
 * Returns the ids in lower case, without duplicates.
 *
 * @throws `InvalidArgumentError` for a value that is not an id, without an id, and for too many ids
 */
export function idsGiven(value: unknown, others: readonly unknown[]): readonly string[] {
  assertNoMore(others, 'Give several ids as one array.')
  const given: readonly unknown[] = Array.isArray(value) ? value : [value]
  const other = given.find((id) => typeof id !== 'string' || !/^[0-9a-f]{32}$/i.test(id))
  if (other !== undefined || given.includes(undefined)) {
    throw new InvalidArgumentError(
      `release(ids) takes ids of permits, which have 32 hex digits; got ${show(other)}. To release ` +
        'a permit object, call permit.release().',
    )
  }
  const ids = new Set(given.map((id) => (id as string).toLowerCase()))
  if (ids.size === 0 || ids.size > MOST_IDS) {
    throw new InvalidArgumentError(
      `release(ids) takes from 1 to ${MOST_IDS} ids of permits; got ${ids.size}.`,
    )
  }
  return [...ids]
}
