// The embedded server, in a process of its own. It can reach neither files nor network but through the few
// lines of JavaScript around it.
import { startEmbedded } from '../../scripts/lib/embedded-valkey.mjs'

process.on('SIGINT', () => {})
process.on('disconnect', () => process.exit())

await startEmbedded(Number(process.argv[2])).catch((error) => {
  process.send({ type: 'failed', code: error.code, message: error.message })
  process.disconnect()
  process.exit(1)
})
process.send({ type: 'listening' })
