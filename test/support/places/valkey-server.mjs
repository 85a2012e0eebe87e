// Runs Valkey, compiled to WebAssembly, as a process that the tests start like any other server. This program reads
// only `--port <port>` and ignores all other settings.
import { argv, exit } from 'node:process'
import { startEmbedded } from '../../../scripts/lib/embedded-valkey.mjs'

await startEmbedded(Number(argv[argv.indexOf('--port') + 1])).catch((error) => {
  console.error(error.code === 'EADDRINUSE' ? 'Address already in use' : error)
  exit(1)
})
