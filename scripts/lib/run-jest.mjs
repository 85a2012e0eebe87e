// Runs Jest with another binary of Node.js, or with other variables.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const jest = join(root, 'node_modules/jest/bin/jest.js')

/**
 * @param {readonly string[]} args the arguments of Jest
 * @param {{ node?: string, env?: NodeJS.ProcessEnv }} [how] the binary of Node.js, and the variables
 * @returns {boolean} true if all tests passed
 */
export function runJest(args, { node = process.execPath, env = process.env } = {}) {
  return spawnSync(node, [jest, ...args], { cwd: root, stdio: 'inherit', env }).status === 0
}
