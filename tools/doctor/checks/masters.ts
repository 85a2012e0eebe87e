import { infoOf } from '../facts/names.ts'
import type { Check } from './check.ts'

/** Checks the number of independent masters, and if all masters are different servers. */
export const masters: Check = {
  codes: { 'even-masters': 'warning', 'same-server': 'error' },
  *run({ servers, deployment }) {
    if (deployment !== 'masters') return
    const { length } = servers
    if (length % 2 === 0) {
      const most = length / 2 - 1
      yield {
        code: 'even-masters',
        at: undefined,
        seen: `${length} masters were given; a majority is ${length / 2 + 1} of them.`,
        why: `${most === 0 ? 'No master' : `At most ${most} of them`} may fail. With one master less, just as many may fail. So the last master adds no safety.`,
        fix: [`# Use ${length + 1} or ${length - 1} masters.`],
        numbers: { masters: length },
      }
    }
    const byRun = new Map<string, string[]>()
    for (const server of servers) {
      const runId = infoOf(server, 'run_id')
      if (runId) byRun.set(runId, [...(byRun.get(runId) ?? []), server.address])
    }
    for (const [runId, addresses] of byRun) {
      if (addresses.length === 1) continue
      yield {
        code: 'same-server',
        at: undefined,
        seen: `${addresses.join(' and ')} are the same server (run_id ${runId}).`,
        why: 'This server would vote twice. If this server fails, more than one vote is missing. Its answers alone may also count as a majority.',
        fix: ['# Give each server once.'],
        numbers: { addresses: addresses.length },
      }
    }
  },
}
