import { answerOf } from '../facts/facts.ts'
import type { Check } from './check.ts'

/** How long answers take, beside how long they may take. */
export const roundTrips: Check = {
  codes: { 'answers-too-late': 'error', 'answers-slow': 'warning' },
  *run({ servers, place, terms }) {
    const { leaseMs, commandTimeoutMs } = terms
    // One of several masters has no longer than a tenth of the lease.
    const shareMs = Math.max(100, leaseMs / 10)
    const limitMs = place === 'masters' ? Math.min(commandTimeoutMs, shareMs) : commandTimeoutMs
    for (const { address: at, clock } of servers) {
      const facts = answerOf(clock)
      if (facts === undefined) continue
      const { samples, medianMs, slowestMs } = facts
      const isTooLate = slowestMs >= limitMs || medianMs >= leaseMs / 3
      const isSlow = slowestMs >= limitMs / 4 || slowestMs >= leaseMs / 10
      if (!isTooLate && !isSlow) continue
      yield {
        code: isTooLate ? 'answers-too-late' : 'answers-slow',
        at,
        seen: `Of ${samples} answers the slowest took ${slowestMs} ms, one in the middle ${medianMs} ms. A command has ${limitMs} ms here, a lease ${leaseMs} ms.`,
        why: isTooLate
          ? 'Commands are given up before they are answered: locks are not had, or lost with the next renewal.'
          : 'A slow moment more, and commands are given up, or a renewal comes late.',
        fix: [
          '# Run clients nearer to it, find what blocks it (SLOWLOG GET), or take a longer leaseMs',
          '# and commandTimeoutMs.',
        ],
        numbers: { samples, medianMs, slowestMs, limitMs, leaseMs },
      }
    }
  },
}
