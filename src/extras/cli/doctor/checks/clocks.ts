import { answerOf } from '../facts/facts.ts'
import type { Check } from './check.ts'

const MOST_APART_MS = 500
const MOST_FROM_HERE_MS = 1_000

/** The clocks of the servers beside one another, and beside ours. */
export const clocks: Check = {
  codes: { 'clocks-apart': 'warning', 'clock-from-here': 'note' },
  *run({ servers, place }) {
    const known = servers.flatMap(({ address, clock }) => {
      const facts = answerOf(clock)
      return facts === undefined ? [] : [{ address, ...facts }]
    })
    const sorted = [...known].sort((a, b) => a.aheadMs - b.aheadMs)
    const [first, last] = [sorted[0], sorted.at(-1)]
    if (first !== undefined && last !== undefined && first !== last) {
      const apartMs = Math.round(last.aheadMs - first.aheadMs)
      const boundMs = Math.ceil(last.boundMs + first.boundMs)
      if (apartMs - boundMs > MOST_APART_MS) {
        yield {
          code: 'clocks-apart',
          at: undefined,
          seen: `The clock of ${last.address} is ${apartMs} ms (± ${boundMs}) ahead of that of ${first.address}.`,
          why:
            place === 'cluster'
              ? 'The deadline of a request is told in the time of one node: at another one it may run so much late. And a fencing token whose counter was lost comes from the clock.'
              : 'A fencing token whose counter was lost on most of them comes from their clocks, and may be lower than one before it.',
          fix: ['# On both machines: timedatectl set-ntp true'],
          numbers: { apartMs, boundMs },
        }
      }
    }
    for (const { address, aheadMs, boundMs } of known) {
      if (Math.abs(aheadMs) - boundMs <= MOST_FROM_HERE_MS) continue
      const distanceMs = Math.round(Math.abs(aheadMs))
      yield {
        code: 'clock-from-here',
        at: address,
        seen: `Its clock is ${distanceMs} ms (± ${Math.ceil(boundMs)}) ${aheadMs > 0 ? 'ahead of' : 'behind'} the one here.`,
        why: 'No lock is judged by the clock here. Times in logs do not fit together.',
        fix: ['# On both machines: timedatectl set-ntp true'],
        numbers: { aheadMs: Math.round(aheadMs), boundMs: Math.ceil(boundMs) },
      }
    }
  },
}
