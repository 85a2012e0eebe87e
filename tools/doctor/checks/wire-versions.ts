import { answerOf } from '../facts/facts.ts'
import type { Check } from './check.ts'

/** Checks if clients with several versions of the wire format share a server. */
export const wireVersions: Check = {
  codes: { 'wire-versions-conflict': 'warning', 'several-wire-versions': 'note' },
  *run({ servers }) {
    for (const { address: at, keys } of servers) {
      const found = answerOf(keys)?.wireFormats ?? []
      if (found.length < 2) continue
      // An old version of Holdfast reports no wire format, and can share locks with version 1.
      const formats = found.map((one) => one ?? { version: 1, oldest: 1 })
      const newest = Math.max(...formats.map(({ oldest }) => oldest))
      const oldest = Math.min(...formats.map(({ version }) => version))
      const all = found.map((one) => one?.version ?? 'none').sort()
      const isConflict = newest > oldest
      yield {
        code: isConflict ? 'wire-versions-conflict' : 'several-wire-versions',
        at,
        seen: `Clients report several versions of the wire format: ${all.join(', ')}.`,
        why: isConflict
          ? `Clients with a version below ${newest} cannot share queues, semaphores and other keys of Holdfast with the newest clients. Waiters may be late or served out of order.`
          : 'These clients can share locks. Several versions are normal while a new version of Holdfast is rolled out.',
        fix: isConflict
          ? ['# Update the older clients.']
          : [
              '# Complete the update. If all clients have the same version of Holdfast, no action is needed.',
            ],
        numbers: { newest, oldest },
      }
    }
  },
}
