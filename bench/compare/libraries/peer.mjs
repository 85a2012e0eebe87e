// Loads the peers. They have their own `node_modules`, so the package does not depend on them.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

export const folder = fileURLToPath(new URL('../../peers', import.meta.url))
const manifest = `${folder}/package.json`
const require = createRequire(manifest)

/** The exports of a peer, as an object even if the peer exports a single function. */
export async function load(name) {
  const exported = require(name)
  return typeof exported === 'function' ? { default: exported, ...exported } : exported
}

/** @returns the content of its package.json; undefined if it is not installed */
export function manifestOf(name) {
  const path = `${folder}/node_modules/${name}/package.json`
  if (!existsSync(path)) return undefined
  const manifest = JSON.parse(readFileSync(path, 'utf8'))
  return { ...manifest, version: manifest.version.replace(/^v/, '') }
}

/** Installs the peers if they are missing or have other versions. Returns the reason if this fails. */
export function ensurePeers() {
  const { dependencies } = JSON.parse(readFileSync(manifest, 'utf8'))
  const wanted = (range) => range.replace(/^npm:.*@/, '')
  const isThere = ([name, range]) => manifestOf(name)?.version === wanted(range)
  if (Object.entries(dependencies).every(isThere)) return undefined
  console.log('Installing the peers into bench/peers …')
  const { status, stderr } = spawnSync('npm', ['ci', '--prefix', folder, '--ignore-scripts'], {
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  return status === 0 ? undefined : `npm ci --prefix bench/peers failed: ${stderr.trim()}`
}
