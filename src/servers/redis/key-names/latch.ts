import { derived, kindKey } from '../calls/keys.ts'

/** The prefixes of the key and the channel that only count-down latches have. */
export const LATCH_NAMES = {
  round: 'holdfast_round',
  channel: 'redisson_countdownlatch__channel__',
} as const

/**
 * Returns the keys and the channel of a count-down latch. In the channel, Redisson puts braces
 * around the whole name, even if the name has a `{tag}`. In a cluster, this channel would be in
 * another slot, so Holdfast leaves these braces out.
 */
export function latchKeys(rawName: string, clustered: boolean) {
  const { channel } = LATCH_NAMES
  return {
    latch: rawName,
    round: derived(LATCH_NAMES.round, rawName),
    kind: kindKey(rawName),
    channel:
      clustered && rawName.includes('{') ? `${channel}:${rawName}` : `${channel}{${rawName}}`,
  }
}
