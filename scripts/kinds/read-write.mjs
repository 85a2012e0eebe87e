/** @type {import('./kind.mjs').ScriptKind} */
export default {
  title: 'getReadWriteLock',
  channel: 'redisson_rwlock',
  keys: {
    both: ['lock', 'counter', 'prefix'],
    readers: 'holdfast_readers',
    writers: 'holdfast_writers',
    alive: 'holdfast_alive',
    phase: 'holdfast_phase',
  },
  hasOwners: true,
  asked: ['holdfast_readers', 'holdfast_writers', 'holdfast_alive'],
}
