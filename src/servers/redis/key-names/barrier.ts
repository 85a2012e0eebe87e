import { derived } from '../calls/keys.ts'

/** The prefixes of the keys and the channel of cyclic barriers. */
export const BARRIER_NAMES = {
  state: 'holdfast_barrier',
  settled: 'holdfast_settled',
  channel: 'holdfast_rounds',
} as const

/** Returns the keys and the channel of a cyclic barrier. */
export function barrierKeys(rawName: string) {
  return {
    barrier: rawName,
    state: derived(BARRIER_NAMES.state, rawName),
    settled: derived(BARRIER_NAMES.settled, rawName),
    channel: derived(BARRIER_NAMES.channel, rawName),
  }
}
