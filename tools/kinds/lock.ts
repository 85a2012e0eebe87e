import type { KindView, RightNames, StateFacts, Taking } from './kind.ts'
import { CLAIM_MS, COUNTER_MS, derived, HASHES, listenersOf, queueOf, SETS } from './names.ts'

/** Plain locks and fair locks. */
export const lock: KindView<'lock'> = {
  kind: 'lock',
  named: ['redisson_lock_token', 'redisson_lock_queue', 'holdfast_queue', 'holdfast_waiting'],
  expiring: ['holdfast_queue', 'holdfast_waiting', 'holdfast_forced'],
  leaks: true,
  questions({ key, type, queued, isCluster }) {
    if (type !== 'hash' && type !== 'none') return {}
    return {
      ...(type === 'hash' && {
        fields: ['HGETALL', key],
        ttl: ['PTTL', key],
        listeners: listenersOf(derived('redisson_lock__channel', key), isCluster),
      }),
      ...(queued > 0 && {
        fair: queueOf('holdfast_queue', key),
        places: ['HGETALL', derived('holdfast_waiting', key)],
      }),
    }
  },
  stateOf: ({ holders }: StateFacts) =>
    holders.length === 0
      ? { state: 'free', stateText: 'free' }
      : { state: 'held', stateText: 'held' },
  force: takeLock,
  rights: (names) => ({ kind: 'fair lock', ...fairRights(names) }),
}

export function takeLock({ key, owner, token, floor, publish, forcedMs }: Taking) {
  const named = (...prefixes: string[]) => prefixes.map((prefix) => derived(prefix, key))
  const ours = named('holdfast_queue', 'holdfast_waiting')
  const javas = named('redisson_lock_queue', 'redisson_lock_timeout')
  const [channel] = named('redisson_lock__channel') as [string]
  return {
    script: 'takeLock',
    keys: [key, ...named('redisson_lock_token'), ...ours, ...javas, ...named('holdfast_forced')],
    args: [
      ...[owner, token ?? '', floor, COUNTER_MS, CLAIM_MS],
      ...['holdfast_inbox:', channel, publish, forcedMs],
    ],
  } as const
}

export function fairRights({ lock: key, own }: RightNames) {
  return {
    commands: [
      ['EXISTS', key],
      ['HKEYS', key],
      ...HASHES(key),
      ...SETS(key),
      ['LRANGE', key, '0', '-1'],
    ],
    patterns: [...own('redisson_lock_queue', 'redisson_lock_timeout'), '&holdfast_inbox:*'],
  }
}
