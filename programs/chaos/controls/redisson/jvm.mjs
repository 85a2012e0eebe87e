// A JVM with Redisson. It reads one line of JSON for each request, and writes one line for each answer. Its program
// is test/interop/java.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { guard } from '../../../../scripts/lib/native-server.mjs'
import { ensureRedisson } from '../../../../scripts/lib/redisson.mjs'

/** The release line of Redisson that the controls test. */
const LINE = '4'
/** Small heaps that start quickly, because several JVMs run on a small machine. */
const FLAGS = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xshare:auto', '-Xmx128m']
const LOG = '-Dorg.slf4j.simpleLogger.defaultLogLevel=off'

/**
 * Builds the Java process unless it is already built. If this is not possible, throws an error that says what to
 * install.
 */
export function ensureJvm() {
  ensureRedisson(LINE)
}

export class Jvm {
  #process
  #pending = new Map()
  #requests = 0

  constructor() {
    const { classPath } = ensureRedisson(LINE)
    const java = ['java', ...FLAGS, LOG, '-cp', classPath, 'holdfast.interop.Main']
    const [file, ...args] = [...guard(), ...java]
    this.#process = spawn(file, args, {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { ...process.env, JAVA_TOOL_OPTIONS: '' },
    })
    this.#process.stdin.on('error', () => {})
    createInterface({ input: this.#process.stdout }).on('line', (line) => {
      const { id, ok, error } = JSON.parse(line)
      const { resolve, reject } = this.#pending.get(id)
      this.#pending.delete(id)
      if (error === undefined) resolve(ok)
      else reject(new Error(`${error.type}: ${error.message}`))
    })
  }

  /** The pid of the JVM, even if `setpriv` starts it, because `setpriv` replaces itself with the JVM. */
  get pid() {
    return this.#process.pid
  }

  /** @param thread requests of one thread run one after another; a thread of Java is an owner of locks */
  ask(op, thread, request = {}) {
    this.#requests += 1
    const id = this.#requests
    this.#process.stdin.write(`${JSON.stringify({ id, op, thread, client: 'it', ...request })}\n`)
    return new Promise((resolve, reject) => this.#pending.set(id, { resolve, reject }))
  }
}
