// Shared by the measurements: servers, statistics, and processes that answer requests.
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { ensureServer, guard } from '../../scripts/lib/native-server.mjs'

/** Starts a server on a free loopback port. The server ends with this process. */
export async function startServer() {
  const server = await startProcess(await freePort())
  console.log(aboutTheMachine())
  return server
}

/** One line about the machine, for the top of a measurement. */
export function aboutTheMachine() {
  const { kind, version } = ensureServer()
  return `${kind} ${version}, Node.js ${process.version}, ${cpus().length} cores`
}

const servers = new Map()
process.on('exit', () => {
  for (const [server, dir] of servers) {
    server.kill('SIGKILL')
    rmSync(dir, { recursive: true, force: true })
  }
})
process.on('SIGINT', () => process.exit(130))
process.on('SIGTERM', () => process.exit(143))

/** Starts a server on `port`, without persistence. */
export async function startProcess(port) {
  const { path, env, kind, version } = ensureServer()
  // A replica writes a file into its working directory, and the next server in this directory would load the file.
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-bench-'))
  const place = ['--port', String(port), '--bind', '127.0.0.1', '--dir', dir]
  const args = [...place, '--save', '', '--appendonly', 'no']
  const [program, ...words] = [...guard(), path, ...args]
  const server = spawn(program, words, { stdio: 'ignore', env: { ...process.env, ...env } })
  servers.set(server, dir)
  const ended = once(server, 'exit').then(() => {
    servers.delete(server)
    rmSync(dir, { recursive: true, force: true })
  })
  const admin = new Redis(port, { maxRetriesPerRequest: null, retryStrategy: () => 5 })
  admin.on('error', () => {})
  await admin.ping()
  const kill = async (signal = 'SIGKILL') => {
    server.kill(signal)
    await ended
  }
  const stop = async () => {
    admin.disconnect()
    await kill()
  }
  const signal = (name) => server.kill(name)
  return { port, url: `redis://127.0.0.1:${port}`, kind, version, admin, signal, kill, stop }
}

export async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address()
  probe.close()
  await once(probe, 'close')
  return port
}

/** Starts the calling file as another process, with arguments. */
export function forkSelf(url, ...args) {
  return fork(new URL(url), args.map(String))
}

/** A clock for all processes of one machine, in milliseconds. */
export const now = () => Number(process.hrtime.bigint()) / 1e6

/** The side of the worker of {@link startWorker}. The worker ends with its parent. */
export function serve(actions) {
  process.on('message', async ({ id, name, args }) => {
    const reply = await Promise.resolve(actions[name](...args)).then(
      (result) => ({ id, result }),
      (error) => ({ id, error: String(error?.stack ?? error) }),
    )
    if (process.connected) process.send(reply)
  })
  process.on('disconnect', () => process.exit())
}

const running = new Set()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Starts the calling file as a process that answers calls, several at a time. */
export function startWorker(url, ...args) {
  const child = forkSelf(url, 'worker', ...args)
  running.add(child)
  const calls = new Map()
  let ids = 0
  const kill = (signal = 'SIGKILL') => child.kill(signal)
  const ended = new Promise((resolve) => child.once('exit', resolve)).then(() => {
    running.delete(child)
    for (const { reject } of calls.values()) reject(new Error('the process ended'))
    calls.clear()
  })
  child.on('message', ({ id, result, error }) => {
    const { resolve, reject } = calls.get(id)
    calls.delete(id)
    if (error === undefined) resolve(result)
    else reject(new Error(error))
  })
  const call = (name, ...params) =>
    new Promise((resolve, reject) => {
      ids += 1
      calls.set(ids, { resolve, reject })
      child.send({ id: ids, name, args: params })
    })
  return { call, kill, ended }
}

/** The next message of a process that `accepts` accepts. */
export function messageOf(child, accepts = () => true) {
  return new Promise((resolve, reject) => {
    const onExit = (code) => reject(new Error(`a process ended with ${code}`))
    child.once('exit', onExit)
    child.on('message', function listener(message) {
      if (!accepts(message)) return
      child.off('message', listener)
      child.off('exit', onExit)
      resolve(message)
    })
  })
}

export function quantile(values, q) {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))]
}

/** `p50 … p99 … max …`, in the unit of the values. */
export function spread(values, unit = 'ms') {
  const at = (q) => `${quantile(values, q).toFixed(2)} ${unit}`
  return `p50 ${at(0.5)}, p99 ${at(0.99)}, max ${at(1)}`
}

/** The number of calls of each command on the server since the last `CONFIG RESETSTAT`. */
export async function callsOf(admin) {
  const info = await admin.info('commandstats')
  const calls = {}
  for (const [, name, count] of info.matchAll(/cmdstat_(\S+?):calls=(\d+)/g)) {
    calls[name] = Number(count)
  }
  return calls
}

/** Prints rows of equal length below their headings. */
export function table(headings, rows) {
  const lines = [headings, ...rows].map((row) => row.map(String))
  const widths = headings.map((_, i) => Math.max(...lines.map((line) => line[i].length)))
  for (const line of lines) {
    console.log(
      line
        .map((word, i) => (i === 0 ? word.padEnd(widths[i]) : word.padStart(widths[i])))
        .join('  '),
    )
  }
}

/** Waits for a condition. Rejects after `timeoutMs`. */
export async function until(condition, what, timeoutMs = 30_000) {
  for (const end = now() + timeoutMs; !(await condition()); await pause(2)) {
    if (now() > end) throw new Error(`${what}: not within ${timeoutMs} ms`)
  }
}

/** Waits for a shorter time than a timer can wait. */
export async function spin(ms) {
  for (const end = now() + ms; now() < end; ) await new Promise((resolve) => setImmediate(resolve))
}

/** @returns the port of a proxy that passes all data in order, with a delay */
export async function openSlowWay(target, oneWayMs) {
  const ways = []
  const listener = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ]) {
      from.setNoDelay(true)
      from.on('error', () => {})
      from.on('data', (chunk) => {
        ways.push({ at: now() + oneWayMs, to, chunk })
        if (ways.length === 1) schedule()
      })
      from.on('close', () => to.destroy())
    }
  })
  // Data arrives in the order in which it was sent. A timer is too coarse for the end of the delay.
  const schedule = () => {
    const leftMs = ways[0].at - now()
    if (leftMs > 2) setTimeout(schedule, leftMs - 2)
    else if (leftMs > 0) setImmediate(schedule)
    else {
      const { to, chunk } = ways.shift()
      to.write(chunk)
      if (ways.length > 0) schedule()
    }
  }
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  return listener.address().port
}
