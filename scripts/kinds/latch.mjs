/** @type {import('./kind.mjs').ScriptKind} */
export default {
  title: 'getCountDownLatch',
  channel: 'redisson_countdownlatch__channel__',
  keys: { latch: '', round: 'holdfast_round' },
  // A client that only uses latches holds nothing, so no note about a hold is deleted.
  hasNotes: false,
  asked: ['holdfast_round'],
}
