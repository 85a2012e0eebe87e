import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { spawnDyingWithParent } from './die-with-parent.ts'
import { encodeCommand } from './resp.ts'

/** Settings of redis.conf by name. An array is a setting of several words. */
export type ServerConfig = Record<string, string | number | readonly (string | number)[]>

/** The command that starts a server, instead of the server that the tests have found. */
export interface Program {
  readonly words: readonly [string, ...string[]]
  /** The process id that the server reports, if it differs from the real process id. */
  readonly toldPid?: number
}

/** Another process has the port. Pick another port, or wait for this port. */
export class PortTakenError extends Error {}

const START_TIMEOUT_MS = 15_000

/** Makes a folder for one server, inside the folder of the test run. */
export function newServerFolder(): string {
  const parent = process.env.HOLDFAST_TEST_DIR ?? tmpdir()
  mkdirSync(parent, { recursive: true })
  return mkdtempSync(join(parent, 'redis-'))
}

/** Starts the native server in the foreground. Resolves when the server answers. */
export async function spawnServer(
  port: number,
  dir: string,
  config: ServerConfig,
  program: Program = { words: [process.env.HOLDFAST_REDIS_SERVER ?? 'redis-server'] },
): Promise<ChildProcess> {
  const logFile = join(dir, 'server.log')
  const log = openSync(logFile, 'w')
  const settings: ServerConfig = { bind: '127.0.0.1', save: '', appendonly: 'no', dir, ...config }
  const flags = Object.entries({ ...settings, port }).flatMap(([name, value]) => [
    `--${name}`,
    ...[value].flat().map(String),
  ])
  const [server, ...words] = program.words
  const child = spawnDyingWithParent(server, [...words, ...flags], { stdio: ['ignore', log, log] })
  closeSync(log)
  let failure: Error | undefined
  child.once('error', (error) => {
    failure = error
  })
  const deadline = performance.now() + START_TIMEOUT_MS
  while (!(await answers(port, program.toldPid ?? child.pid, config.requirepass))) {
    if (failure) throw failure
    if (!isRunning(child)) throw startError(port, readFileSync(logFile, 'utf8'))
    if (performance.now() > deadline) {
      child.kill('SIGKILL')
      throw new Error(`No answer from ${server} within ${START_TIMEOUT_MS} ms`)
    }
    await pause(2)
  }
  child.unref()
  return child
}

export const isRunning = (child: ChildProcess): boolean =>
  child.exitCode === null && child.signalCode === null

/** Uses SIGKILL, because the server has nothing to save, and because SIGTERM waits for a timer of the server. */
export async function killProcess(child: ChildProcess): Promise<void> {
  if (!isRunning(child)) return
  child.ref()
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

function startError(port: number, log: string): Error {
  if (/address already in use/i.test(log)) return new PortTakenError(`Port ${port} is taken`)
  return new Error(`The server on port ${port} did not start:\n${log.slice(-2_000)}`)
}

/**
 * Resolves with true if the server with this process id answers on the port. Another server may have bound the port
 * first. INFO, unlike PING, reports the process id.
 */
function answers(port: number, pid: number | undefined, password: unknown): Promise<boolean> {
  return new Promise((resolve) => {
    let reply = ''
    const socket = connect(port, '127.0.0.1')
    const done = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(1_000, () => done(false))
    socket.once('error', () => done(false))
    socket.once('close', () => done(false))
    socket.setEncoding('latin1')
    if (password !== undefined) socket.write(encodeCommand(['AUTH', String(password)]))
    socket.write(encodeCommand(['INFO', 'server']))
    socket.on('data', (chunk) => {
      reply += chunk
      const found = /process_id:(\d+)\r\n/.exec(reply)
      if (found) done(Number(found[1]) === pid)
    })
  })
}
