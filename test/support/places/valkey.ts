import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { startRedis } from '../redis-server.ts'
import type { Program } from '../server-process.ts'
import type { Place } from './place.ts'

const FINDER = join(__dirname, '..', '..', '..', 'scripts', 'lib', 'native-server.mjs')

/** A server of 7.2 or later, which has WAITAOF: that of this machine, or a Valkey that is fetched. */
export function newServer(): Program & { readonly kind: string } {
  const found = execFileSync(process.execPath, [FINDER, '--waitaof', '--json'], {
    encoding: 'utf8',
  })
  const { path, kind } = JSON.parse(found) as { path: string; kind: string }
  return { words: [path], kind }
}

/** The same source as a module of WebAssembly, which tells the process id 42 of itself. */
const EMBEDDED: Program = {
  words: [process.execPath, '--no-warnings', join(__dirname, 'valkey-server.mjs')],
  toldPid: 42,
}

/** A server of Valkey; where the machine's is of Redis, the embedded one. */
export async function startValkeyPlace(): Promise<Place> {
  const found = newServer()
  const server = await startRedis({ program: found.kind === 'valkey' ? found : EMBEDDED })
  return { server, way: () => ({ redis: server.url }) }
}
