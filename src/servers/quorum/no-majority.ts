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

/**
 * A master may have lost leases, so it does not vote until the longest possible lease has ended.
 */
export class RestingMaster extends CallFailure {
  /** @param leftMs the time until the master votes, in milliseconds */
  constructor(leftMs: number) {
    const what = 'it restarted, was emptied or was a replica recently, and may have lost leases'
    super('unsent', `${what}: it votes in about ${leftMs} ms`)
  }
}

/** The time of the call ended before the client could request the vote of a master again. */
export class LateVote extends CallFailure {
  constructor() {
    super('unsent', 'it has not voted, and no time was left to request its vote again')
  }
}
