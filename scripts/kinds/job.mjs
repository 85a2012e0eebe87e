import { KIND_NAMES } from '../lib/key-names.mjs'

/** @type {import('./kind.mjs').ScriptKind} */
export default {
  title: 'job',
  names: KIND_NAMES.JOB_NAMES,
  lists: { job: ['job', 'once'] },
  hasOwners: true,
  usesLocks: true,
  asked: ['job'],
  askedInFull: ['runs'],
}
