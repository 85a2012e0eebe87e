import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/**
 * The ES module of an entry point, in a folder of the package. Its path differs between versions.
 *
 * @param {string} folder
 * @param {string} entry as `exports` of package.json names it
 */
export function entryOf(folder, entry = '.') {
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return resolve(folder, exports[entry].import.default)
}
