/** @type {import('./kind.mjs').ScriptKind} */
export default {
  title: 'getPermitExpirableSemaphore',
  channel: 'redisson_sc',
  keys: {
    three: ['timeouts', 'counter', 'holders'],
    pool: '',
    queue: 'holdfast_permit_queue',
    alive: 'holdfast_permit_waiters',
    holders: 'holdfast_permit_holders',
  },
  hasOwners: true,
  asked: ['holdfast_permit_queue', 'holdfast_permit_waiters', 'holdfast_permit_holders'],
}
