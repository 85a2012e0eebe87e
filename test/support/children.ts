import type { ChildProcess } from 'node:child_process'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { allow } from './allowances.ts'
import { type Deferred, deferred } from './deferred.ts'
import { spawnDyingWithParent } from './die-with-parent.ts'
import { eventually } from './eventually.ts'
import { atEnd } from './lifetime.ts'
import { isRunning, killProcess } from './server-process.ts'

const root = resolve(__dirname, '..', '..')

export interface ChildOptions {
  args?: readonly string[]
  env?: Record<string, string>
}

export interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

/** A process that sends and receives JSON lines. The side of Node.js children is in child.mjs. */
export class Child {
  /** All messages so far. A line that is not JSON is kept as a string. */
  readonly all: unknown[] = []
  /** Is called with each new message. */
  onMessage: (message: unknown) => void = () => undefined
  readonly #process: ChildProcess
  readonly #exited: Deferred<Exit> = deferred<Exit>()
  #taken = 0
  #errors = ''

  constructor(process: ChildProcess) {
    this.#process = process
    process.once('exit', (code, signal) => this.#exited.resolve({ code, signal }))
    process.once('error', (error) => {
      this.#errors += String(error)
    })
    process.stdin?.on('error', () => undefined)
    process.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#errors += text
    })
    if (process.stdout) {
      createInterface({ input: process.stdout }).on('line', (line) => {
        const message = parse(line)
        this.all.push(message)
        this.onMessage(message)
      })
    }
  }

  get pid(): number {
    return this.#process.pid ?? -1
  }

  get running(): boolean {
    return isRunning(this.#process)
  }

  /** The output on stderr so far. */
  get errors(): string {
    return this.#errors
  }

  /** Resolves when the process has ended for any reason. */
  get exited(): Promise<Exit> {
    return this.#exited.promise
  }

  send(message: unknown): void {
    this.#process.stdin?.write(`${JSON.stringify(message)}\n`)
  }

  /**
   * Returns the next message that the predicate accepts, after the message that `next` returned last. Messages in
   * between are skipped, but stay in `all`.
   */
  async next<T = unknown>(
    accepts: (message: T) => boolean = () => true,
    { timeoutMs = 10_000 } = {},
  ): Promise<T> {
    const from = this.#taken
    const find = () => this.all.findIndex((each, at) => at >= from && accepts(each as T))
    const isOver = () => !this.running && this.#process.stdout?.destroyed === true
    await eventually(() => find() >= 0 || isOver(), {
      timeoutMs,
      message: `a message of the child, whose stderr says: ${this.#errors || 'nothing'}`,
    })
    const found = find()
    if (found < 0) throw new Error(`The child ended before it said that: ${this.#errors}`)
    this.#taken = found + 1
    return this.all[found] as T
  }

  /** SIGKILL ends the process at once. SIGSTOP freezes the process, like a suspended machine, until SIGCONT. */
  kill(signal: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT'): void {
    this.#process.kill(signal)
  }

  /** Ends the process. Runs at the end of the test or file that started the process. */
  async stop(): Promise<void> {
    await killProcess(this.#process)
  }
}

/** Runs a `.mjs` file in a new Node.js process. `file` is a path in the repository. */
export function startChild(file: string, { args = [], env = {} }: ChildOptions = {}): Child {
  const path = resolve(root, file)
  return startProgram(process.execPath, {
    args: [path, ...args],
    env: { NODE_OPTIONS: '', ...env },
  })
}

/** Runs any program that sends and receives JSON lines. The program ends with the test or file that started it. */
export function startProgram(file: string, { args = [], env = {} }: ChildOptions = {}): Child {
  const process_ = spawnDyingWithParent(file, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const child = new Child(process_)
  const { stdin, stdout, stderr } = process_
  const pipes = () => [stdin, stdout, stderr].filter((pipe) => pipe && !pipe.destroyed).length
  const withdrawals = [
    allow('ProcessWrap', () => (child.running ? 1 : 0)),
    allow('PipeWrap', pipes),
  ]
  atEnd(
    async () => {
      await child.stop()
      await eventually(() => pipes() === 0, { message: 'the end of the pipes of a child' })
      for (const withdraw of withdrawals) withdraw()
    },
    { beforeCheck: true },
  )
  return child
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return line
  }
}
