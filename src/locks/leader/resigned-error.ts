import { HoldfastError } from '../../errors.ts'

/**
 * The reason with which the signal of a term aborts after `resign()`. Work that uses the signal usually rejects with
 * this error.
 */
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
