import { answerOf } from '../facts/facts.ts'
import type { Check } from './check.ts'

const MOST_APART_MS = 500
const MOST_FROM_HERE_MS = 1_000

/** Compares the clocks of the servers with one another, and with the local clock. */
export const clocks: Check = {
  codes: { 'clocks-apart': 'warning', 'clock-from-here': 'note' },
  *run({ servers, deployment }) {
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
          seen: `The clock of ${last.address} is ${apartMs} ms (± ${boundMs}) ahead of the clock of ${first.address}.`,
          why:
            deployment === 'cluster'
              ? 'The deadline of a request is a time on the clock of one node. Another node may run the request after the deadline, late by this difference. If the counter of a fencing token was lost, the next token comes from the clock, and may be lower than an earlier token.'
              : 'If most masters lost the counter of a fencing token, the next token comes from their clocks, and may be lower than an earlier token.',
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
        seen: `Its clock is ${distanceMs} ms (± ${Math.ceil(boundMs)}) ${aheadMs > 0 ? 'ahead of' : 'behind'} the clock here.`,
        why: 'No lock depends on the clock here. But times in logs do not match.',
        fix: ['# On both machines: timedatectl set-ntp true'],
        numbers: { aheadMs: Math.round(aheadMs), boundMs: Math.ceil(boundMs) },
      }
    }
  },
}
