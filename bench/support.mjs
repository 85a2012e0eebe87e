// What the measurements share: a server of their own, figures, and processes that answer.
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { cpus } from 'node:os'
import { Redis } from 'ioredis'
import { ensureServer } from '../scripts/native-server.mjs'

/** A server on a free loopback port, ended with this process. */
export async function startServer() {
  const { path, env, kind, version } = ensureServer()
  const port = await freePort()
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  const server = spawn(path, args, { stdio: 'ignore', env: { ...process.env, ...env } })
  const end = () => server.kill('SIGKILL')
  process.on('exit', end)
  process.on('SIGINT', () => process.exit(130))
  const admin = new Redis(port, { maxRetriesPerRequest: null, retryStrategy: () => 5 })
  admin.on('error', () => {})
  await admin.ping()
  console.log(`${kind} ${version}, Node.js ${process.version}, ${cpus().length} cores`)
  const stop = async () => {
    admin.disconnect()
    end()
    await once(server, 'exit')
  }
  return { port, url: `redis://127.0.0.1:${port}`, admin, stop }
}

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address()
  probe.close()
  await once(probe, 'close')
  return port
}

/** Starts the calling file once more as a process of its own, with arguments. */
export function forkSelf(url, ...args) {
  return fork(new URL(url), args.map(String))
}

/** The next message of a process that the test accepts. */
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

/** How often each command has run on the server since the last `CONFIG RESETSTAT`. */
export async function callsOf(admin) {
  const info = await admin.info('commandstats')
  const calls = {}
  for (const [, name, count] of info.matchAll(/cmdstat_(\S+?):calls=(\d+)/g)) {
    calls[name] = Number(count)
  }
  return calls
}
