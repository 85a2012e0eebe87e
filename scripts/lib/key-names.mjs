// Loads the prefixes of keys and channels from src/. The file there has no imports, so removing its types is enough.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { transformSync } from '@swc/core'

const file = fileURLToPath(new URL('../../src/servers/redis/calls/keys.ts', import.meta.url))
const { code } = transformSync(readFileSync(file, 'utf8'), {
  jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
  module: { type: 'es6' },
})

export const { BIRTH, NAMES } = await import(`data:text/javascript,${encodeURIComponent(code)}`)
