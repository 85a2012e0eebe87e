import { createServer, type Server } from 'node:net'

/**
 * Ports for servers: below every usual ephemeral range, where an outgoing connection could take them,
 * and so low that a cluster's bus port (port + 10 000) is below it too and meets no other server.
 * Each worker of jest has some to itself: what a test has let go, to have it again, no other test
 * takes meanwhile, whose server would answer the clients of this one.
 */
const WORKERS = 24 // At least the most workers of scripts/lib/workers.mjs.
const COUNT = Math.floor(10_000 / WORKERS)
const FIRST = 10_000 + COUNT * (Number(portsOf()) % WORKERS)

/** Whose ports: a Jest that a test runs has those of the worker which waits for it. */
export function portsOf(): string {
  return process.env.HOLDFAST_PORTS_OF ?? process.env.JEST_WORKER_ID ?? '1'
}

const given = new Set<number>()

/** A loopback port that was free a moment ago. Others pick as well: be ready to pick again. */
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

/** Whether the server could be bound to that loopback port. */
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
