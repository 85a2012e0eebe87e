// Valkey compiled to WebAssembly, as a process that is started as any other server: it takes `--port <port>`
// and passes over all other settings.
import { argv, exit } from 'node:process'
import { startEmbedded } from '../../../scripts/lib/embedded-valkey.mjs'

await startEmbedded(Number(argv[argv.indexOf('--port') + 1])).catch((error) => {
  console.error(error.code === 'EADDRINUSE' ? 'Address already in use' : error)
  exit(1)
})
