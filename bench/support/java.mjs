// Shared by the measurements with Java: the process of test/interop/java, and its answers.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { ensureRedisson } from '../../scripts/lib/redisson.mjs'
import { now } from './support.mjs'

/** Starts a JVM with the newest Redisson, or with the given line or release. The JVM ends with this process. */
export async function startJava(wanted = '4') {
  const { version, classPath } = ensureRedisson(wanted)
  const args = ['-Dorg.slf4j.simpleLogger.defaultLogLevel=warn', '-cp', classPath]
  const jvm = spawn('java', [...args, 'holdfast.interop.Main'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  process.on('exit', () => jvm.kill('SIGKILL'))
  const pending = new Map()
  createInterface({ input: jvm.stdout }).on('line', (line) => {
    const { id, ok, error, ns } = JSON.parse(line)
    const { resolve, reject } = pending.get(id)
    pending.delete(id)
    if (error) reject(new Error(`${error.type}: ${error.message}`))
    else resolve({ value: ok, from: ns[0] / 1e6, to: ns[1] / 1e6 })
  })
  let requests = 0
  /** Resolves with the value, and with the times at which Java began and ended the request. */
  const ask = (op, request = {}) => {
    requests += 1
    const id = requests
    const answered = new Promise((resolve, reject) => pending.set(id, { resolve, reject }))
    jvm.stdin.write(`${JSON.stringify({ id, op, ...request })}\n`)
    return answered
  }

  // On most platforms, System.nanoTime() of Java and now() have the same clock. This call checks it.
  const before = now()
  const { from, to } = await ask('threadId')
  if (from < before || to > now())
    throw new Error('Java and Node.js have different clocks on this machine')
  console.log(`Redisson ${version}`)
  return { ask, stop: () => jvm.stdin.end() }
}
