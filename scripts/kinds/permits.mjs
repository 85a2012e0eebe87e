import { KIND_NAMES } from '../lib/key-names.mjs'

/** @type {import('./kind.mjs').ScriptKind} */
export default {
  title: 'getPermitExpirableSemaphore',
  names: KIND_NAMES.PERMIT_NAMES,
  lists: { keys: ['timeouts', 'counter', 'holders'] },
  hasOwners: true,
  asked: ['queue', 'alive', 'holders'],
}
