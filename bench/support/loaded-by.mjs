import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** The files of a build that a module loads, and its own file. */
export function loadedBy(file, seen = new Set()) {
  if (seen.has(file)) return seen
  seen.add(file)
  const code = readFileSync(file, 'utf8')
  // The build writes double quotes. Single quotes are in the files of the dashboard's page, which the build contains as
  // texts.
  for (const [, to] of code.matchAll(/^(?:import|export)[^'"\n]*"(\.[^"]+)";$/gm)) {
    loadedBy(resolve(dirname(file), to), seen)
  }
  return seen
}
