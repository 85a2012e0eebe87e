import { KIND_NAMES } from '../lib/key-names.mjs'

/** @type {import('./kind.mjs').ScriptKind} */
export default {
  title: 'getRateLimiter',
  names: { log: '', ...KIND_NAMES.RATE_NAMES },
  hasNotes: false,
  hasMessages: false,
  asked: ['state'],
}
