import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { startRedis } from '../redis-server.ts'
import type { Program } from '../server-process.ts'
import type { Place } from './place.ts'

const FINDER = join(__dirname, '..', '..', '..', 'scripts', 'lib', 'native-server.mjs')

/**
 * Finds a server of version 7.2 or later, which has WAITAOF. This is the server of this machine or a downloaded Valkey.
 */
export function newServer(): Program & { readonly kind: string } {
  const found = execFileSync(process.execPath, [FINDER, '--waitaof', '--json'], {
    encoding: 'utf8',
  })
  const { path, kind } = JSON.parse(found) as { path: string; kind: string }
  return { words: [path], kind }
}

/** Valkey as a WebAssembly module. This server always reports the process id 42. */
const EMBEDDED: Program = {
  words: [process.execPath, '--no-warnings', join(__dirname, 'valkey-server.mjs')],
  toldPid: 42,
}

/** Starts a Valkey server: the server of this machine if it is Valkey, otherwise the WebAssembly module. */
export async function startValkeyPlace(): Promise<Place> {
  const found = newServer()
  const server = await startRedis({ program: found.kind === 'valkey' ? found : EMBEDDED })
  return { server, way: () => ({ redis: server.url }) }
}
