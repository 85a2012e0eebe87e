import { createServer, type Server } from 'node:net'

/**
 * Ports for servers. They are below the usual ephemeral ports, because an outgoing connection could take an ephemeral
 * port. The bus port of a cluster node (port + 10 000) is also below them and not used by other servers. Each Jest
 * worker has its own ports. Otherwise another test could start a server on a port whose server was just stopped, and
 * clients would connect to the wrong server.
 */
const WORKERS = 24 // At least the maximum of scripts/lib/workers.mjs.
const COUNT = Math.floor(10_000 / WORKERS)
const FIRST = 10_000 + COUNT * (Number(portsOf()) % WORKERS)

/** Returns the worker whose ports to use. A Jest that a test starts uses the ports of the worker that waits for it. */
export function portsOf(): string {
  return process.env.HOLDFAST_PORTS_OF ?? process.env.JEST_WORKER_ID ?? '1'
}

const given = new Set<number>()

/**
 * Returns a loopback port that was free a moment ago. Another process may take it, so the caller must be able to retry.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const port = FIRST + Math.floor(Math.random() * COUNT)
    if (given.has(port)) continue
    const probe = createServer()
    if (!(await tryListen(probe, port))) continue
    await new Promise((resolve) => probe.close(resolve))
    given.add(port)
    return port
  }
  throw new Error(`No free port between ${FIRST} and ${FIRST + COUNT}`)
}

/** Resolves with true if the server now listens on this loopback port. */
export function tryListen(server: Server, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const onListening = () => {
      server.off('error', onError)
      resolve(true)
    }
    const onError = (error: NodeJS.ErrnoException) => {
      server.off('listening', onListening)
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(false)
      else reject(error)
    }
    server.once('error', onError).once('listening', onListening)
    server.listen(port, '127.0.0.1')
  })
}
