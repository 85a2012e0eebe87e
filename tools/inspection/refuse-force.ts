import { InvalidArgumentError } from '../../src/index.ts'
import { type RowKind, viewOf } from '../kinds/all.ts'

/**
 * @throws `InvalidArgumentError` if no owner can lose a lock of this kind by force, or if no holder
 * of this kind can have the name `owner`
 */
export function refuseForce(
  kind: RowKind,
  key: string,
  owner: string,
  holders: readonly { readonly owner: string }[],
): void {
  const { whyNoForce, ownerRefusal } = viewOf(kind)
  const name = JSON.stringify(key)
  if (whyNoForce !== undefined) throw new InvalidArgumentError(`${name} ${whyNoForce}`)
  if (holders.some((one) => one.owner === owner)) return
  const refusal = ownerRefusal?.(name, owner)
  if (refusal !== undefined) throw new InvalidArgumentError(refusal)
}
