import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process'

let hasSetpriv: boolean | undefined

/**
 * Spawns a process that ends with this process, even if this process is killed with SIGKILL. On Linux, the kernel kills
 * the child. Elsewhere, a shell waits until a pipe from this process closes, and then kills the child.
 */
export function spawnDyingWithParent(
  file: string,
  args: readonly string[],
  options: SpawnOptions,
): ChildProcess {
  hasSetpriv ??=
    process.platform === 'linux' &&
    spawnSync('setpriv', ['--pdeathsig', 'KILL', 'true'], { stdio: 'ignore' }).status === 0
  if (hasSetpriv) {
    return spawn('setpriv', ['--pdeathsig', 'KILL', file, ...args], options)
  }
  const child = spawn(file, args, options)
  if (child.pid !== undefined) watch(child, child.pid)
  return child
}

function watch(child: ChildProcess, pid: number): void {
  const watchdog = spawn('sh', ['-c', `read _; kill -9 ${pid}`], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  watchdog.on('error', () => undefined)
  watchdog.stdin?.on('error', () => undefined)
  watchdog.unref()
  if (watchdog.stdin && 'unref' in watchdog.stdin) (watchdog.stdin.unref as () => void)()
  child.once('exit', () => watchdog.kill('SIGKILL'))
}
