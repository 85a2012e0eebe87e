/** @type {import('./kind.mjs').ScriptKind} */
export default {
  title: 'getCyclicBarrier',
  channel: 'holdfast_rounds',
  keys: { barrier: '', state: 'holdfast_barrier', settled: 'holdfast_settled' },
  hasNotes: false,
  asked: ['holdfast_barrier'],
}
