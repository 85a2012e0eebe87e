import { NAMES } from '../lib/key-names.mjs'

/** @type {import('./kind.mjs').ScriptKind} */
export default {
  title: 'getCyclicBarrier',
  names: NAMES.barrier,
  hasNotes: false,
  asked: ['state'],
}
