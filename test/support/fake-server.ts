import { createServer, type Socket } from 'node:net'
import { allow } from './allowances.ts'
import { atEnd } from './lifetime.ts'
import { freePort } from './ports.ts'
import { FrameReader, stringsOf } from './resp.ts'

/** What the server answers to a command, as it is on the wire; null is silence. */
export type Answer = (command: string[]) => string | null

/** A server for what no real one can be made to say. It ends with the test that started it. */
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

/** An answer as the protocol has a string of any length. */
export const bulk = (text: string): string => `$${Buffer.byteLength(text)}\r\n${text}\r\n`
