import { derived } from '../calls/keys.ts'

/** The prefix of the channel of an election. Its keys are the keys of a fair lock. */
export const ELECTION_NAMES = { channel: 'holdfast_election' } as const

/** Returns the channel on which the leader of an election announces itself. */
export function electionChannelOf(rawName: string): string {
  return derived(ELECTION_NAMES.channel, rawName)
}
