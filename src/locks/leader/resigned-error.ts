import { HoldfastError } from '../../errors.ts'

/** The term ended by `resign()`: the reason of its signal, and so of whatever that signal ended. */
export class ResignedError extends HoldfastError {
  /** The fencing token of the term. */
  readonly token: number

  constructor(lockName: string, token: number) {
    super(
      'HOLDFAST_RESIGNED',
      `The leader of "${lockName}" (token ${token}) has resigned. Stop the work of the term: the next ` +
        'candidate leads when it has ended.',
      { lockName },
    )
    this.token = token
  }
}
