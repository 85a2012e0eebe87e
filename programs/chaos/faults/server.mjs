// Faults of a server that keeps its data. Each fault ends by itself.
import { setTimeout as pause } from 'node:timers/promises'

const killAll = ({ admin }) => admin.client('KILL', 'TYPE', 'normal', 'SKIPME', 'yes')

export const SERVER = {
  'connections killed': async (server) => {
    await killAll(server)
    await server.admin.client('KILL', 'TYPE', 'pubsub')
  },
  'connections killed again and again': async (server, ms) => {
    for (const end = performance.now() + ms; performance.now() < end; await pause(40)) {
      await killAll(server)
    }
  },
  'listeners killed': (server) => server.admin.client('KILL', 'TYPE', 'pubsub'),
  'scripts flushed': (server) => server.admin.script('FLUSH'),
  stopped: (server, ms) => server.inTurn(() => server.stopped(ms)),
  asleep: (server, ms) => server.admin.call('DEBUG', 'SLEEP', (ms / 1_000).toFixed(3)),
  'out of memory': async (server, ms) => {
    await server.admin.config('SET', 'maxmemory', '1')
    await pause(ms)
    await server.admin.config('SET', 'maxmemory', '0')
  },
  'too many clients': async (server, ms) => {
    await server.admin.config('SET', 'maxclients', '2')
    await killAll(server)
    await pause(ms)
    await server.admin.config('SET', 'maxclients', '10000')
  },
  /** Stands for a login without the right to SELECT. The client must not use database 0 instead. */
  'SELECT forbidden': async (server, ms) => {
    await server.admin.call('ACL', 'SETUSER', 'default', '-select')
    await killAll(server)
    await pause(ms)
    await server.admin.call('ACL', 'SETUSER', 'default', '+select')
  },
  busy: (server, ms) => occupy(server, ms),
  /** New connections receive BUSY. */
  'busy at reconnect': async (server, ms) => {
    const over = occupy(server, ms)
    await pause(20)
    for (const way of server.ways) way.cut()
    await over
  },
}

/** Only for a server without a watcher, because Sentinels and clusters would promote another master. */
export const ALONE = {
  'read only': async (server, ms) => {
    await server.admin.call('REPLICAOF', '127.0.0.1', '1')
    await pause(ms)
    await server.admin.call('REPLICAOF', 'NO', 'ONE')
  },
  /** The server restarts with its data. */
  restarted: (server, ms) =>
    server.inTurn(async () => {
      await server.kill()
      await pause(ms)
      await server.restart()
    }),
}

async function occupy({ admin }, ms) {
  await admin.config('SET', 'busy-reply-threshold', '10')
  const loop =
    "local t = redis.call('TIME') local e = t[1] * 1000 + t[2] / 1000 + ARGV[1] repeat t = redis.call('TIME') until t[1] * 1000 + t[2] / 1000 > e"
  await admin.eval(loop, 0, Math.round(ms)).catch(() => {})
}
