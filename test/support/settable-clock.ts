import { Redis } from 'ioredis'
import { allow, openSocket } from './allowances.ts'
import { startChild } from './children.ts'
import { atEnd } from './lifetime.ts'
import { freePort } from './ports.ts'

/** A server whose clock the test sets. The server ends with the test. */
export interface SettableServer {
  readonly port: number
  readonly url: string
  readonly admin: Redis
  /** Moves the clock of the server forward by `ms` milliseconds, or back if `ms` is negative. */
  step(ms: number): Promise<void>
}

export async function startSettable(): Promise<SettableServer> {
  const port = await freePort()
  const child = startChild('test/support/settable-clock.mjs', { args: [`${port}`] })
  await child.next((message) => message === 'listening', { timeoutMs: 30_000 })
  const admin = new Redis({ host: '127.0.0.1', port, disconnectTimeout: 20 })
  const withdraw = allow('TCPSocketWrap', () =>
    openSocket((admin as { stream?: { destroyed: boolean } }).stream),
  )
  atEnd(
    async () => {
      admin.disconnect()
      withdraw()
    },
    { beforeCheck: true },
  )
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    admin,
    async step(ms) {
      child.send({ stepMs: ms })
      await child.next<{ stepped?: number }>(({ stepped }) => stepped === ms)
    },
  }
}
