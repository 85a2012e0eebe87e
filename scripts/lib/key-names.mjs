// Loads the prefixes of keys and channels from src/. Each file becomes a `data:` URL without types, and so does each file
// that it imports.
import { readdirSync, readFileSync } from 'node:fs'
import { transformSync } from '@swc/core'

const redis = new URL('../../src/servers/redis/', import.meta.url)
const ofKinds = new URL('key-names/', redis)
const options = {
  jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
  module: { type: 'es6' },
}

/** Returns the `data:` URL of a TypeScript file that imports only files with relative paths. */
function urlOf(file) {
  const { code } = transformSync(readFileSync(file, 'utf8'), options)
  const linked = code.replace(/(?<=\bfrom ['"])\.[^'"]+/g, (path) => urlOf(new URL(path, file)))
  return `data:text/javascript;base64,${Buffer.from(linked).toString('base64')}`
}

const load = (path, base) => import(urlOf(new URL(path, base)))

export const { BIRTH, NAMES } = await load('calls/keys.ts', redis)

/** Everything that the files of single kinds export, such as `LATCH_NAMES`. */
export const KIND_NAMES = Object.assign(
  {},
  ...(await Promise.all(readdirSync(ofKinds).map((file) => load(file, ofKinds)))),
)
