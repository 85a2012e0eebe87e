import { createServer, type Socket } from 'node:net'
import { allow } from './allowances.ts'
import { atEnd } from './lifetime.ts'
import { freePort } from './ports.ts'
import { FrameReader, stringsOf } from './resp.ts'

/** Returns the answer to a command in the format of the protocol, or null to stay silent. */
export type Answer = (command: string[]) => string | null

/**
 * Starts a server whose answers the test decides, for answers that no real server gives on demand. It ends with the
 * test that started it.
 */
export async function startFakeServer(answer: Answer): Promise<{ host: string; port: number }> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    const reader = new FrameReader()
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
    socket.on('data', (chunk) => {
      for (const frame of reader.push(chunk)) {
        const reply = answer(stringsOf(frame))
        if (reply !== null) socket.write(reply)
      }
    })
  })
  const [host, port] = ['127.0.0.1', await freePort()]
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve)
  })
  const withdrawals = [
    allow('TCPServerWrap', () => (server.listening ? 1 : 0)),
    allow('TCPSocketWrap', () => sockets.size),
  ]
  atEnd(
    async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
      for (const withdraw of withdrawals) withdraw()
    },
    { beforeCheck: true },
  )
  return { host, port }
}

/** Encodes a text as a bulk string. */
export const bulk = (text: string): string => `$${Buffer.byteLength(text)}\r\n${text}\r\n`
