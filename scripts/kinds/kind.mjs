// Lists the kinds, such as latches, whose scripts have their own folder in lua/. Each kind has a file here with the
// name of this folder.
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * @typedef {object} ScriptKind
 * @property {string} title the method of a client that returns the kind
 * @property {Record<string, string>} names the prefixes of its keys, by their names in the headers, and of its channel
 * @property {Record<string, string[]>} [lists] the keys behind each list of keys in the headers
 * @property {boolean} [hasOwners] true if other clients may ask a holder to release
 * @property {boolean} [usesLocks] true if the kind also uses plain locks
 * @property {boolean} [hasNotes] false if the kind has no holds, so that no note about a hold is deleted. Default: true
 * @property {boolean} [hasMessages] false if the clients receive no messages of the kind. Default: true
 * @property {string[]} [asked] the names of the keys that an inspection reads
 * @property {string[]} [askedInFull] the names of further keys that an inspection of one lock reads
 */

const here = fileURLToPath(new URL('.', import.meta.url))
const folders = readdirSync(here)
  .map((file) => file.replace('.mjs', ''))
  .filter((name) => name !== 'kind')

/** @type {Map<string, ScriptKind>} */
export const SCRIPT_KINDS = new Map()
for (const folder of folders.sort()) {
  SCRIPT_KINDS.set(folder, (await import(`./${folder}.mjs`)).default)
}

/** @returns {string[]} the scripts of the kind, such as `latch/look` */
export function scriptsOf(folder) {
  const files = readdirSync(fileURLToPath(new URL(`../../lua/${folder}/`, import.meta.url)))
  return files.map((file) => `${folder}/${file.replace('.lua', '')}`).sort()
}
