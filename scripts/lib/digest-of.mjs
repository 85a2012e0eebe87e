import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

/**
 * @param {string} root
 * @param {readonly string[]} folders below `root`
 * @returns {string[]} the paths of all files in these folders, below `root`, in order
 */
export function filesIn(root, folders) {
  return folders
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath ?? entry.path, entry.name)))
    .sort()
}

/**
 * @param {string} root
 * @param {readonly string[]} files below `root`
 * @returns {string} a digest of the paths and the content of these files
 */
export function digestOf(root, files) {
  const hash = createHash('sha256')
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(join(root, file)))
  return hash.digest('hex')
}
