/**
 * Runs an embedded server whose clock a test can set. The argument is the port, and the message `{ stepMs }` moves the
 * clock. The program needs no compiler and no special rights.
 */
import { startEmbedded } from '../../scripts/lib/embedded-valkey.mjs'
import { onMessage, tell } from './child.mjs'

const REALTIME = 0
let offsetNs = 0n
let memory

// Wraps the one function from which the server gets the time.
const { instantiate } = WebAssembly
WebAssembly.instantiate = async (module, imports) => {
  const wasi = imports?.wasi_snapshot_preview1
  if (wasi === undefined) return instantiate(module, imports)
  const clock = (id, precision, place) => {
    const failed = wasi.clock_time_get(id, precision, place)
    if (id === REALTIME && memory !== undefined) {
      const view = new DataView(memory.buffer)
      view.setBigUint64(place, view.getBigUint64(place, true) + offsetNs, true)
    }
    return failed
  }
  const instance = await instantiate(module, {
    ...imports,
    wasi_snapshot_preview1: { ...wasi, clock_time_get: clock },
  })
  memory = instance.exports.memory
  return instance
}

await startEmbedded(Number(process.argv[2]))

onMessage(({ stepMs }) => {
  offsetNs += BigInt(Math.round(stepMs * 1e6))
  tell({ stepped: stepMs })
})
tell('listening')
