import { KIND_NAMES } from '../lib/key-names.mjs'

/** @type {import('./kind.mjs').ScriptKind} */
export default {
  title: 'getReadWriteLock',
  names: KIND_NAMES.READ_WRITE_NAMES,
  lists: { keys: ['lock', 'counter', 'prefix'] },
  hasOwners: true,
  asked: ['readers', 'writers', 'alive'],
}
