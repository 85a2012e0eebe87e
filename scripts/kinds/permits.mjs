import { NAMES } from '../lib/key-names.mjs'

/** @type {import('./kind.mjs').ScriptKind} */
export default {
  title: 'getPermitExpirableSemaphore',
  names: NAMES.permits,
  lists: { keys: ['timeouts', 'counter', 'holders'] },
  hasOwners: true,
  asked: ['queue', 'alive', 'holders'],
}
