import { KIND_NAMES } from '../lib/key-names.mjs'

/** @type {import('./kind.mjs').ScriptKind} */
export default {
  title: 'getCyclicBarrier',
  names: KIND_NAMES.BARRIER_NAMES,
  hasNotes: false,
  asked: ['state'],
}
