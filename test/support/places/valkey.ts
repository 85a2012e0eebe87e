import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { startRedis } from '../redis-server.ts'
import type { Program } from '../server-process.ts'
import type { Place } from './place.ts'

/** The same as a module of WebAssembly, which tells the process id 42 of itself. */
const EMBEDDED: Program = {
  words: [process.execPath, '--no-warnings', join(__dirname, 'valkey-server.mjs')],
  toldPid: 42,
}

/** The valkey-server of this machine; where there is none, the same source compiled to WebAssembly. */
function valkey(): Program {
  const found = process.env.HOLDFAST_VALKEY_SERVER ?? 'valkey-server'
  const { status, stdout } = spawnSync(found, ['--version'], { encoding: 'utf8' })
  return status === 0 && /valkey/i.test(stdout) ? { words: [found] } : EMBEDDED
}

/** One server of Valkey. */
export async function startValkeyPlace(): Promise<Place> {
  const server = await startRedis({ program: valkey() })
  return { server, way: () => ({ redis: server.url }) }
}
