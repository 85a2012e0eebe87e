import type { Holdfast } from '../../../src/index.ts'
import { KINDS, type RowKind } from '../../kinds/all.ts'
import type { Concluded } from '../../kinds/concluded.ts'
import type { KindView } from '../../kinds/kind.ts'
import { labelIn } from '../owner-ids.ts'

/** The kind and the state of one lock, as a client reads them. */
interface FoundName extends Concluded {
  readonly kind: RowKind
}

/** The kinds that a client can read. The last kind is first, as `KINDS` requires. */
const READABLE = KINDS.filter(({ read }) => read !== undefined).reverse()

const labelled = KINDS.find(({ hasLabels }) => hasLabels)

/**
 * Returns the kinds that a client can read, in the order in which to try them.
 *
 * @param name the name of the lock
 * @param what the words for the kind that uses the name; undefined if no kind uses the name
 */
export function kindsToTry(name: string, what: string | undefined): readonly KindView<RowKind>[] {
  const isFirst = ({ inErrors }: KindView) => what !== undefined && inErrors === what
  const possible = READABLE.filter(({ isPossibleName }) => isPossibleName?.(name) ?? true)
  return [...possible.filter(isFirst), ...possible.filter((one) => !isFirst(one))]
}

/** @returns null if no lock of this kind has the name. Rejects if another kind uses the name */
export async function readAs(
  view: KindView<RowKind>,
  client: Holdfast,
  name: string,
): Promise<FoundName | null> {
  const found = await view.read?.(client, name)
  if (!found) return null
  const { holders = [], queue = [] } = found
  const hasLabel = [...holders, ...queue].some(({ owner }) => labelIn(owner) !== null)
  return { ...found, kind: (hasLabel && labelled?.kind) || view.kind }
}
