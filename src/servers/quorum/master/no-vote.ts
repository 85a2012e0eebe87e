import { CallFailure } from '../../call-failure.ts'

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
