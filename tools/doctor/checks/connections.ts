import { configOf, isMaster, numberOf } from '../facts/names.ts'
import { type Check, setting } from './check.ts'

const LEAST_BUFFER = 1_048_576

/** Checks settings that close connections, or that make commands slower. */
export const connections: Check = {
  codes: { 'idle-timeout': 'warning', 'pubsub-buffer': 'note', 'keyspace-events': 'note' },
  *run({ servers, terms }) {
    for (const server of servers.filter(isMaster)) {
      const at = server.address
      const seconds = numberOf(configOf(server, 'timeout')) ?? 0
      const renewMs = terms.leaseMs / 3
      if (seconds > 0 && seconds * 1_000 <= renewMs) {
        yield {
          code: 'idle-timeout',
          at,
          seen: `timeout is ${seconds} s: the server closes connections that are idle for this long.`,
          why: `A watchdog renews every ${Math.round(renewMs)} ms. The watchdog then finds its connection closed each time, and has to connect again first.`,
          fix: setting(server, 'timeout', 0),
          numbers: { timeoutSeconds: seconds, renewMs: Math.round(renewMs) },
        }
      }
      const words = (configOf(server, 'client-output-buffer-limit') ?? '').split(' ')
      const hard = numberOf(words[words.indexOf('pubsub') + 1]) ?? 0
      if (words.includes('pubsub') && hard > 0 && hard < LEAST_BUFFER) {
        yield {
          code: 'pubsub-buffer',
          at,
          seen: `client-output-buffer-limit closes the connection of a subscriber at ${hard} bytes.`,
          why: 'If a client is slow for a moment, it loses messages and has to connect again. Then its waiters request their locks again.',
          fix: setting(server, 'client-output-buffer-limit', 'pubsub 32mb 8mb 60'),
          numbers: { hardBytes: hard },
        }
      }
      const events = configOf(server, 'notify-keyspace-events') ?? ''
      if (events !== '') {
        yield {
          code: 'keyspace-events',
          at,
          seen: `notify-keyspace-events is "${events}".`,
          why: 'Holdfast does not need these events, but they make each command slower. Other programs may need them.',
          fix: [`# If no program needs it: ${server.cli} CONFIG SET notify-keyspace-events ""`],
          numbers: { events },
        }
      }
    }
  },
}
