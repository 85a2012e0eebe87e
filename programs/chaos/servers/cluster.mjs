// A Redis cluster: three masters, usually a replica of each, failovers and slots that move.
import { setTimeout as pause } from 'node:timers/promises'
import { Server } from './server.mjs'

const SLOTS = 16_384
const MASTERS = 3
const ARGS = [
  ...['--cluster-enabled', 'yes', '--cluster-config-file', 'nodes.conf'],
  ...['--cluster-node-timeout', '1500', '--cluster-replica-validity-factor', '0'],
  ...['--repl-diskless-sync-delay', '0', '--repl-ping-replica-period', '1'],
]

export class RedisCluster {
  static async start({ hasReplicas = true } = {}) {
    const cluster = new RedisCluster()
    cluster.servers = await Promise.all(
      Array.from({ length: hasReplicas ? 2 * MASTERS : MASTERS }, () =>
        Server.start({ args: ARGS }),
      ),
    )
    await cluster.#form()
    return cluster
  }

  async #form() {
    const { servers } = this
    const [first] = servers
    for (const [i, { admin }] of servers.entries()) {
      await admin.call('CLUSTER', 'SET-CONFIG-EPOCH', i + 1)
      if (i > 0) await admin.call('CLUSTER', 'MEET', '127.0.0.1', first.port)
    }
    const firstSlot = (i) => Math.ceil((i * SLOTS) / MASTERS)
    for (let i = 0; i < MASTERS; i++) {
      const range = [firstSlot(i), firstSlot(i + 1) - 1]
      await servers[i].admin.call('CLUSTER', 'ADDSLOTSRANGE', ...range)
    }
    await this.#everywhere((info) => info.includes(`cluster_known_nodes:${servers.length}`))
    for (const one of servers) one.id = String(await one.admin.call('CLUSTER', 'MYID'))
    for (const [i, replica] of servers.slice(MASTERS).entries()) {
      // The replica may not know yet that the other server is a master.
      const replicate = () => replica.admin.call('CLUSTER', 'REPLICATE', servers[i].id)
      await soon(() => replicate().then(() => true))
    }
    await this.#everywhere((info) => info.includes('cluster_state:ok'))
    await soon(async () => (await this.masters()).length === MASTERS)
  }

  async #everywhere(test) {
    for (const { admin } of this.servers) await soon(async () => test(await admin.cluster('INFO')))
  }

  async masters() {
    const roles = await Promise.all(this.servers.map((one) => one.isDown || one.role()))
    return this.servers.filter((_, i) => roles[i] === 'master')
  }

  /** @returns the fields of each line of CLUSTER NODES, from a server that runs */
  async #nodes() {
    const one = this.servers.find(({ isDown }) => !isDown)
    const lines = String(await one.admin.cluster('NODES'))
      .trim()
      .split('\n')
    return lines.map((line) => line.split(' '))
  }

  /** A master with slots, and a running replica of it. */
  async #pair(random) {
    const masters = await this.masters()
    const nodes = await this.#nodes()
    const pairs = []
    for (const [id, , , masterId, , , , link] of nodes) {
      const master = masters.find((one) => one.id === masterId)
      const replica = this.servers.find((one) => one.id === id && !one.isDown)
      if (master && replica && link === 'connected') pairs.push({ master, replica })
    }
    return pairs[Math.floor(random() * pairs.length)]
  }

  /** No data is lost, because the master waits until its replica has all data. */
  async planned(_ms, random) {
    const pair = await this.#pair(random)
    if (pair === undefined) return
    await pair.replica.admin.call('CLUSTER', 'FAILOVER').catch(() => {})
    await soon(async () => (await pair.replica.role()) === 'master', 8_000).catch(() => {})
  }

  /** The replica takes over without asking the other masters. */
  async takeover(_ms, random) {
    const pair = await this.#pair(random)
    if (pair === undefined) return
    await pair.replica.admin.call('CLUSTER', 'FAILOVER', 'TAKEOVER').catch(() => {})
    await soon(async () => (await pair.replica.role()) === 'master', 8_000).catch(() => {})
  }

  async masterKilled(ms, random) {
    const pair = await this.#pair(random)
    if (pair === undefined) return
    await pair.master.kill()
    await soon(async () => (await pair.replica.role()) === 'master', 15_000).catch(() => {})
    await pause(ms)
    await pair.master.restart()
  }

  async masterStopped(ms, random) {
    const pair = await this.#pair(random)
    if (pair === undefined) return
    pair.master.stopNow()
    await soon(async () => (await pair.replica.role()) === 'master', 15_000).catch(() => {})
    await pause(ms)
    pair.master.goOn()
  }

  /** Moves the slot of a lock to another master, one key at a time, while clients use the slot. */
  async slotMoved(ms, random, names) {
    const name = names[Math.floor(random() * names.length)]
    const masters = await this.masters()
    const slot = Number(await masters[0].admin.cluster('KEYSLOT', name))
    const owner = (await this.#nodes()).find((fields) => fields.slice(8).some(hasSlot(slot)))
    const from = masters.find(({ id }) => id === owner?.[0])
    const others = masters.filter((one) => one !== from)
    const to = others[Math.floor(random() * others.length)]
    if (from === undefined || to === undefined) return
    const set = (at, ...words) => at.admin.call('CLUSTER', 'SETSLOT', slot, ...words)
    try {
      await set(to, 'IMPORTING', from.id)
      await set(from, 'MIGRATING', to.id)
      await pause(Math.min(ms, 500) / 2)
      await soon(async () => {
        const keys = await from.admin.call('CLUSTER', 'GETKEYSINSLOT', slot, 10)
        if (keys.length === 0) return true
        const where = ['127.0.0.1', to.port, '', 0, 1_000, 'REPLACE', 'KEYS']
        await from.admin.call('MIGRATE', ...where, ...keys)
        await pause(random() * 20)
        return false
      }, 5_000)
      // The new master first, so that the slot always has a master.
      for (const one of [to, from, ...others.filter((other) => other !== to)]) {
        await set(one, 'NODE', to.id)
      }
    } catch {
      // A failover happened meanwhile.
      for (const one of [to, from]) await set(one, 'STABLE').catch(() => {})
    }
  }

  async stop() {}
}

function hasSlot(slot) {
  return (range) => {
    const [first, last = first] = range.split('-').map(Number)
    return slot >= first && slot <= last
  }
}

async function soon(isSo, timeoutMs = 20_000) {
  for (const end = performance.now() + timeoutMs; ; await pause(20)) {
    if (await isSo().catch(() => false)) return
    if (performance.now() > end) throw new Error(`not within ${timeoutMs} ms: ${isSo}`)
  }
}
