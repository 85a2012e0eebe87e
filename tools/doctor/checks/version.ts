import { versionOf } from '../facts/names.ts'
import type { Check } from './check.ts'

/** Checks if a server is too old, or lacks features because of its version. */
export const version: Check = {
  codes: { 'too-old': 'error', 'old-version': 'note' },
  *run({ servers, deployment }) {
    for (const server of servers) {
      const found = versionOf(server)
      if (found === undefined) continue
      const { name, text, major, minor } = found
      const isBefore = (a: number, b: number) => major < a || (major === a && minor < b)
      const numbers = { name, version: text }
      const at = server.address
      if (isBefore(6, 2)) {
        yield {
          code: 'too-old',
          at,
          seen: `${name} ${text}.`,
          why: 'Holdfast needs Redis 6.2 or Valkey: calls reject with HOLDFAST_UNSUPPORTED_SERVER.',
          fix: ['# Update it.'],
          numbers,
        }
        continue
      }
      const lacks = [
        ...(isBefore(7, 0) && deployment === 'cluster'
          ? ['sharded channels (since 7.0), so every node receives each release message']
          : []),
        ...(isBefore(7, 2)
          ? ['WAITAOF (since 7.2), so durability with fsync is not possible']
          : []),
      ]
      if (lacks.length === 0) continue
      yield {
        code: 'old-version',
        at,
        seen: `${name} ${text}, which has no ${lacks.join(', and no ')}.`,
        why: 'Locks work. Holdfast does not use the missing features.',
        fix: ['# No action is needed, unless you need the feature. Then update the server.'],
        numbers,
      }
    }
  },
}
