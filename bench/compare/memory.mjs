// Memory use after a garbage collection.
import { setTimeout as pause } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

let collect

/** The number of bytes that this process uses. */
export async function heapBytes() {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc')
  }
  for (let i = 0; i < 3; i += 1) {
    collect()
    await pause(20)
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** The number of bytes that the server uses for data and connections. */
export async function serverBytes(admin) {
  return Number(/used_memory:(\d+)/.exec(await admin.info('memory'))[1])
}
