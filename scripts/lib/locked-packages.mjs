// Reads package-lock.json: which packages run with Holdfast, and which only help to develop it.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** @param {string} file */
export const readJson = (file) => JSON.parse(readFileSync(`${root}/${file}`, 'utf8'))

/**
 * Follows dependencies from these names on, as Node.js resolves them.
 *
 * @param {Record<string, any>} packages `packages` of a lock file
 * @param {readonly string[]} names
 * @returns {string[]} their paths, such as `node_modules/nanoid`, in order
 */
export function closureOf(packages, names) {
  const found = new Set()
  const visit = (name, from) => {
    const path = resolve(packages, name, from)
    if (path === undefined || found.has(path)) return
    found.add(path)
    const { dependencies, optionalDependencies } = packages[path]
    for (const next of Object.keys({ ...dependencies, ...optionalDependencies })) visit(next, path)
  }
  for (const name of names) visit(name, '')
  return [...found].sort()
}

/** @returns {string | undefined} the path of the package, in the folder that is nearest to the dependent package */
function resolve(packages, name, from) {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    const path = at === '' ? `node_modules/${name}` : `${at}/node_modules/${name}`
    if (path in packages) return path
    if (at === '') return undefined
  }
}
