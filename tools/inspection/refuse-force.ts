import { InvalidArgumentError } from '../../src/index.ts'
import { type RowKind, viewOf } from '../kinds/all.ts'

/** @throws `InvalidArgumentError` if no owner can lose a lock of this kind by force */
export function refuseKind(kind: RowKind, key: string): void {
  const { whyNoForce } = viewOf(kind)
  if (whyNoForce === undefined) return
  throw new InvalidArgumentError(`${JSON.stringify(key)} ${whyNoForce}`)
}

/**
 * @throws `InvalidArgumentError` as {@link refuseKind} does, or if no holder of this kind can have
 * the id `owner`
 */
export function refuseForce(
  kind: RowKind,
  key: string,
  owner: string,
  holders: readonly { readonly owner: string }[],
): void {
  refuseKind(kind, key)
  if (holders.some((one) => one.owner === owner)) return
  const refusal = viewOf(kind).ownerRefusal?.(JSON.stringify(key), owner)
  if (refusal !== undefined) throw new InvalidArgumentError(refusal)
}
