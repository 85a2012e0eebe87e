/** @type {import('./kind.mjs').ScriptKind} */
export default {
  title: 'getSemaphore',
  channel: 'redisson_sc',
  keys: {
    semaphore: '',
    queue: 'holdfast_permit_queue',
    alive: 'holdfast_permit_waiters',
    holders: 'holdfast_permit_holders',
  },
}
