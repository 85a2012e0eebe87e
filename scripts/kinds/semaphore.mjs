import { NAMES } from '../lib/key-names.mjs'

/** @type {import('./kind.mjs').ScriptKind} */
export default { title: 'getSemaphore', names: NAMES.permits }
