import { derived } from '../calls/keys.ts'

/** The prefix of the key with the state of a rate limiter. */
export const RATE_NAMES = { state: 'holdfast_rate' } as const

/** Returns the keys of a rate limiter. */
export function rateKeys(rawName: string) {
  return { log: rawName, state: derived(RATE_NAMES.state, rawName) }
}
