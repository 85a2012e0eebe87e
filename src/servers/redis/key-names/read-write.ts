import { derived, lockKeys, tagged } from '../calls/keys.ts'

/** The prefixes of the keys and the channel that only read-write locks have. */
export const READ_WRITE_NAMES = {
  readers: 'holdfast_readers',
  writers: 'holdfast_writers',
  alive: 'holdfast_alive',
  phase: 'holdfast_phase',
  channel: 'redisson_rwlock',
} as const

/** Returns the keys of a read-write lock, and the channel of its releases. */
export function readWriteKeys(rawName: string) {
  const { lock, counter } = lockKeys(rawName)
  return {
    lock,
    counter,
    readers: derived(READ_WRITE_NAMES.readers, rawName),
    writers: derived(READ_WRITE_NAMES.writers, rawName),
    alive: derived(READ_WRITE_NAMES.alive, rawName),
    phase: derived(READ_WRITE_NAMES.phase, rawName),
    channel: derived(READ_WRITE_NAMES.channel, rawName),
    /** The prefix of the timeout keys, which store the leases of readers. */
    prefix: tagged(rawName),
  }
}
