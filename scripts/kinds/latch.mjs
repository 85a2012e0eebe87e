import { KIND_NAMES } from '../lib/key-names.mjs'

/** @type {import('./kind.mjs').ScriptKind} */
export default {
  title: 'getCountDownLatch',
  names: KIND_NAMES.LATCH_NAMES,
  // A client that only uses latches holds nothing, so no note about a hold is deleted.
  hasNotes: false,
  asked: ['round'],
}
