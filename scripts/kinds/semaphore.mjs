import { KIND_NAMES } from '../lib/key-names.mjs'

/** @type {import('./kind.mjs').ScriptKind} */
export default { title: 'getSemaphore', names: KIND_NAMES.PERMIT_NAMES }
