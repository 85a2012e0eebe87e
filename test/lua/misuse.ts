import type { LockKeys } from '../../src/servers/redis/calls/keys.ts'
import type { ScriptRunner } from '../../src/servers/redis/calls/script-runner.ts'
import { only } from '../../src/servers/redis/scripts/convert.ts'
import * as fair from '../../src/servers/redis/scripts/fair.generated.ts'
import * as lock from '../../src/servers/redis/scripts/lock.generated.ts'
import type { Terms } from '../../src/servers/redis/scripts/terms.ts'

/** This function is never called. `npm run typecheck` fails if one of these lines compiles. */
export function misuse(runner: ScriptRunner, keys: LockKeys, terms: Terms): void {
  const first = { owner: 'c:1', leaseMs: 1 }
  // @ts-expect-error an argument that is misspelt
  void runner.request(lock.acquire, keys, { owner: 'c:1', leaseMs: 1, hold: 2 }, 5)
  // @ts-expect-error one that is missing
  void runner.request(lock.acquire, keys, { owner: 'c:1' }, 5)
  // @ts-expect-error two that are swapped
  void runner.request(lock.release, keys, { owner: 5, token: 'c:1' }, 5)
  // @ts-expect-error a list and its element
  void runner.request(lock.renew, { keys: [] }, { leaseMs: 1, owners: 'c:1' }, 5)
  const beat = { client: 'c', listens: true, label: '', places: [[{ owner: 'c:1' }]] }
  // @ts-expect-error a group without one of its fields
  void runner.request(fair.heartbeat, { locks: [] }, beat, 5)
  // @ts-expect-error what the connection knows is no caller's
  void runner.request(lock.acquire, keys, { owner: 'c:1', leaseMs: 1, counterMs: 5 }, 5)
  // @ts-expect-error a key that is missing
  void runner.request(lock.acquire, { lock: 'it' }, first, 5)
  // @ts-expect-error the keys and what is asked for, the other way round
  void runner.request(lock.acquire, first, keys, 5)
  // @ts-expect-error arguments for a script that has none
  void runner.request(lock.peek, keys, first, 5)
  const { notAfterUs: _, ...timeless } = terms
  // @ts-expect-error a script that has a time is told it
  lock.acquire.argsOf(first, timeless, keys)
  const answer = lock.acquire.read([])
  // @ts-expect-error what only another kind of answer has
  answer.ttlMs
  // @ts-expect-error an answer that the script does not give
  answer.kind === 'freed'
  // @ts-expect-error an answer that the script does not give
  only(lock.acquire, 'granted', 'freed')
  // @ts-expect-error an answer that the caller does not expect
  only(lock.acquire, 'granted').read([]).kind === 'held'
}
