// How much memory is in use, once what is garbage has been collected.
import { setTimeout as pause } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

let collect

/** Bytes that this process has in use. */
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

/** Bytes that the server has in use for data and connections. */
export async function serverBytes(admin) {
  return Number(/used_memory:(\d+)/.exec(await admin.info('memory'))[1])
}
