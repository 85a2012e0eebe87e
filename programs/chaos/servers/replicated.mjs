// A master and a replica that is behind it, with nobody who watches: an address that stays leads to
// whichever is the master.
import { setTimeout as pause } from 'node:timers/promises'
import { Way } from '../proxy.mjs'
import { Server } from './server.mjs'

export class Replicated {
  /** How clients reach the master. */
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

  /** The replica of the other one, which it hears through a way that can be slow. */
  async #follow(replica, master) {
    const link = this.links[this.servers.indexOf(master)]
    await replica.admin.replicaof('127.0.0.1', link.port)
    for (let i = 0; i < 200; i++) {
      if (/master_link_status:up/.test(await replica.admin.info('replication'))) return
      await pause(20)
    }
  }

  /** What was granted last, the replica never hears of; the old master comes back as its replica. */
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
      // The others hear READONLY from the old one, and find their way by themselves.
      if (random() < 0.5) way.cut()
    }
    await pause(random() * 100)
    link.heal()
    await this.#follow(old, next)
  }

  /**
   * Clients of the old master keep their connections to it, which is a master for a moment still and
   * then a replica: no connection is cut, new ones lead to the new master.
   */
  async demoted(ms, random) {
    const [old, next] = [this.current, this.servers.find((one) => one !== this.current)]
    await next.admin.replicaof('NO', 'ONE')
    this.current = next
    for (const way of this.ways) way.leadTo(next.port)
    await pause(random() * Math.min(ms, 200))
    await this.#follow(old, next)
  }

  /** New connections of some clients are led to the replica for a while; nobody ends them then. */
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
