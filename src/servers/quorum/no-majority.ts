import { CallFailure } from '../call-failure.ts'

/** Too few masters agreed. The message contains the reason of each master that failed. */
export class NoMajority extends CallFailure {
  /** The failures of the masters. Empty if the votes were split. */
  readonly reasons: readonly CallFailure[]

  constructor(
    kind: CallFailure['kind'],
    message: string,
    reasons: readonly CallFailure[],
    permanent: boolean,
    isOutage: boolean,
  ) {
    super(kind, message, reasons[0], permanent, isOutage)
    this.reasons = reasons
  }
}
