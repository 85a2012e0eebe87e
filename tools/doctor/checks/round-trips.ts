import { answerOf } from '../facts/facts.ts'
import type { Check } from './check.ts'

/** Compares the response times of the servers with the time limits of the clients. */
export const roundTrips: Check = {
  codes: { 'answers-too-late': 'error', 'answers-slow': 'warning' },
  *run({ servers, deployment, terms }) {
    const { leaseMs, commandTimeoutMs } = terms
    // A request to one of several masters may take a tenth of the lease, or 100 ms if this is
    // longer.
    const shareMs = Math.max(100, leaseMs / 10)
    const limitMs =
      deployment === 'masters' ? Math.min(commandTimeoutMs, shareMs) : commandTimeoutMs
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
        seen: `The slowest of ${samples} answers took ${slowestMs} ms, the median ${medianMs} ms. A command may take ${limitMs} ms, and a lease lasts ${leaseMs} ms.`,
        why: isTooLate
          ? 'Commands time out before their answers arrive, so locks are not acquired, or are lost at the next renewal.'
          : 'If the server becomes slower for a moment, commands time out, or a renewal is late.',
        fix: [
          '# Run clients closer to the server, find what blocks it (SLOWLOG GET), or use a longer leaseMs',
          '# and commandTimeoutMs.',
        ],
        numbers: { samples, medianMs, slowestMs, limitMs, leaseMs },
      }
    }
  },
}
