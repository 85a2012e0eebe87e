// A master and a replica without a watcher. The replica has a delay. A stable address leads to the present master.
import { setTimeout as pause } from 'node:timers/promises'
import { Way } from '../proxy.mjs'
import { Server } from './server.mjs'

export class Replicated {
  /** The proxies through which clients connect to the master. */
  ways = []

  static async start(db) {
    const pair = new Replicated()
    const args = ['--repl-diskless-sync-delay', '0', '--repl-ping-replica-period', '1']
    pair.servers = await Promise.all([0, 1].map(() => Server.start({ args, db })))
    pair.links = await Promise.all(pair.servers.map(({ port }) => new Way(port).open()))
    pair.current = pair.servers[0]
    await pair.#follow(pair.servers[1], pair.servers[0])
    return pair
  }

  /** Makes a server a replica of the other server. The replica is connected through a proxy that may be slow. */
  async #follow(replica, master) {
    const link = this.links[this.servers.indexOf(master)]
    await replica.admin.replicaof('127.0.0.1', link.port)
    for (let i = 0; i < 200; i++) {
      if (/master_link_status:up/.test(await replica.admin.info('replication'))) return
      await pause(20)
    }
  }

  /** The replica takes over without the last grants. The old master returns as its replica. */
  async promoted(ms, random) {
    const [old, next] = [this.current, this.servers.find((one) => one !== this.current)]
    const link = this.links[this.servers.indexOf(old)]
    link.delay(20 + random() * 500)
    await pause(ms)
    link.cut()
    await next.admin.replicaof('NO', 'ONE')
    this.current = next
    for (const way of this.ways) {
      way.leadTo(next.port)
      // Other clients receive READONLY from the old master, and must find the new master.
      if (random() < 0.5) way.cut()
    }
    await pause(random() * 100)
    link.heal()
    await this.#follow(old, next)
  }

  /**
   * No connection is cut. Clients of the old master stay connected to it, while it is still a master for a moment and
   * then a replica. New connections lead to the new master.
   */
  async demoted(ms, random) {
    const [old, next] = [this.current, this.servers.find((one) => one !== this.current)]
    await next.admin.replicaof('NO', 'ONE')
    this.current = next
    for (const way of this.ways) way.leadTo(next.port)
    await pause(random() * Math.min(ms, 200))
    await this.#follow(old, next)
  }

  /** Leads new connections of some clients to the replica for some time. These connections stay open after that. */
  async misled(ms, random) {
    const replica = this.servers.find((one) => one !== this.current)
    const some = this.ways.filter(() => random() < 0.6)
    for (const way of some) {
      way.leadTo(replica.port)
      way.cut()
    }
    await pause(ms)
    for (const way of this.ways) way.leadTo(this.current.port)
  }

  async masters() {
    return [this.current]
  }

  async stop() {
    for (const link of this.links) link.close()
  }
}
