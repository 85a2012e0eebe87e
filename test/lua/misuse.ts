import * as fair from '../../src/servers/redis/scripts/fair.generated.ts'
import * as lock from '../../src/servers/redis/scripts/lock.generated.ts'
import * as quorum from '../../src/servers/redis/scripts/quorum.generated.ts'
import type { Terms } from '../../src/servers/redis/scripts/terms.ts'

/** Never called: `npm run typecheck` fails where one of these compiles. */
export function misuse(terms: Terms, names: { channel: string }): void {
  // @ts-expect-error an argument that is misspelt
  lock.acquireArgs({ owner: 'c:1', leaseMs: 1, hold: 2 }, terms)
  // @ts-expect-error one that is missing
  lock.acquireArgs({ owner: 'c:1' }, terms)
  // @ts-expect-error two that are swapped
  lock.releaseArgs({ owner: 5, token: 'c:1' }, terms, names)
  // @ts-expect-error a list and its element
  lock.renewArgs({ leaseMs: 1, owners: 'c:1' }, terms)
  // @ts-expect-error a group without one of its fields
  fair.heartbeatArgs({ client: 'c', listens: true, label: '', places: [[{ owner: 'c:1' }]] }, terms)
  // @ts-expect-error what the connection knows is no caller's
  lock.acquireArgs({ owner: 'c:1', leaseMs: 1, counterMs: 5 }, terms)
  // @ts-expect-error the terms and what is asked for, the other way round
  lock.acquireArgs(terms, { owner: 'c:1', leaseMs: 1 })
  const { notAfterUs: _, ...timeless } = terms
  // @ts-expect-error a script that has a time is told it
  lock.acquireArgs({ owner: 'c:1', leaseMs: 1 }, timeless)
  // @ts-expect-error a name that the script has no argument of
  quorum.vote.args.indexOf('longest')
  const answer = lock.readAcquire([])
  // @ts-expect-error what only another kind of answer has
  answer.ttlMs
  // @ts-expect-error an answer that the script does not give
  answer.kind === 'freed'
}
