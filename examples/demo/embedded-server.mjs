// The embedded server, in its own process. The server reaches files and the network only through the JavaScript code
// around it.
import { startEmbedded } from '../../scripts/lib/embedded-valkey.mjs'

process.on('SIGINT', () => {})
process.on('disconnect', () => process.exit())

await startEmbedded(Number(process.argv[2])).catch((error) => {
  process.send({ type: 'failed', code: error.code, message: error.message })
  process.disconnect()
  process.exit(1)
})
process.send({ type: 'listening' })
