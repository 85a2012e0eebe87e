import { HoldfastError } from '../../errors.ts'

/** `resign()` ended the term. It is the reason of the term's signal, and of all work that the signal aborted. */
export class ResignedError extends HoldfastError {
  /** The fencing token of the term. */
  readonly token: number

  constructor(lockName: string, token: number) {
    super(
      'HOLDFAST_RESIGNED',
      `The leader of "${lockName}" (token ${token}) has resigned. Stop the work of the term: the next ` +
        'candidate leads when that work has ended.',
      { lockName },
    )
    this.token = token
  }
}
