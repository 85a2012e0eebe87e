import { NAMES } from '../lib/key-names.mjs'

/** @type {import('./kind.mjs').ScriptKind} */
export default {
  title: 'getReadWriteLock',
  names: NAMES.readWrite,
  lists: { keys: ['lock', 'counter', 'prefix'] },
  hasOwners: true,
  asked: ['readers', 'writers', 'alive'],
}
