// Child processes that do not outlive the demo, however it ends.
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const running = new Set()

// The last step, even after a second Ctrl-C or an unexpected error.
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Starts a file of this folder in a Node.js process. The process ends by itself when its IPC connection closes. */
export function forkChild(file, args = [], execArgv = []) {
  const path = fileURLToPath(new URL(file, import.meta.url))
  return watched(fork(path, args, { execArgv, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] }))
}

/** Starts a program in its own process group, so that Ctrl-C does not end it before its clients. */
export function spawnChild(program, args, env) {
  const child = watched(
    spawn(program, args, { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] }),
  )
  if (child.pid !== undefined) endWithThisProcess(child)
  return child
}

export const isRunning = (child) =>
  child.pid !== undefined && child.exitCode === null && child.signalCode === null

/** Sends SIGKILL, because the process has no data to save. Resolves when the process has ended. */
export async function kill(child) {
  if (!isRunning(child)) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

function watched(child) {
  running.add(child)
  child.output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text) => {
      child.output = (child.output + text).slice(-4_000)
    })
  }
  child.once('exit', () => running.delete(child))
  child.once('error', (error) => {
    child.output += error.message
    if (child.pid === undefined) running.delete(child)
  })
  return child
}

/**
 * If this process is killed and cannot clean up, its end of a pipe closes. A shell waits for this and then kills the
 * program.
 */
function endWithThisProcess(child) {
  if (process.platform === 'win32') return
  const guard = spawn('sh', ['-c', `read _; kill -9 ${child.pid}`], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  guard.on('error', () => {})
  guard.stdin.on('error', () => {})
  running.add(guard)
  guard.once('exit', () => running.delete(guard))
  child.once('exit', () => guard.kill('SIGKILL'))
}
