import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** The files of a build that a module loads, and its own file. */
export function loadedBy(file, seen = new Set()) {
  if (seen.has(file)) return seen
  seen.add(file)
  const code = readFileSync(file, 'utf8')
  for (const [, to] of code.matchAll(/(?:from|import)\s*['"](\.[^'"]+)['"]/g)) {
    loadedBy(resolve(dirname(file), to), seen)
  }
  return seen
}
