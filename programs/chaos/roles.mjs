// Finds the times in which a change of masters may lose locks. Such a time begins when the watcher last saw the
// masters before the change. It ends when all servers that answer agree about the new masters. In between, a server
// that is no longer a master may grant a lock to a client that does not know about the change.
import { setTimeout as pause } from 'node:timers/promises'
import { now } from './random.mjs'

export class Roles {
  #world
  #tell
  #isOver = false
  /** The masters at the last time at which all servers agreed, and that time. */
  #masters = ''
  #settledAt = now()
  /** True if another server was a master since then. */
  #hasChanged = false
  #isSettled = true
  /** True if the present change loses no lock. */
  losesNothing = false
  #done

  /** @param tell is called after each change with `from`, `to` and the ports of the masters */
  constructor(world, tell) {
    this.#world = world
    this.#tell = tell
    this.#done = this.#watch()
  }

  async stop() {
    this.#isOver = true
    await this.#done
    // The servers never agreed again. From this time on, a violation proves nothing.
    if (this.#hasChanged) this.#tell({ from: this.#settledAt, to: now(), ports: 'not agreed on' })
  }

  /** Resolves when the change is complete and the replicas are up to date, so that another change may begin. */
  async settled() {
    const end = now() + 15_000
    do await pause(300)
    while (now() < end && !(this.#isSettled && (await this.#areReplicasUp())))
  }

  async #areReplicasUp() {
    const infos = await Promise.all(
      this.#world.servers.map((one) => (one.isDown ? '' : one.admin.info('replication'))),
    ).catch(() => [''])
    return infos.every((info) => /role:master|master_link_status:up/.test(info))
  }

  async #watch() {
    while (!this.#isOver) {
      await this.#look().catch(() => {})
      await pause(25)
    }
  }

  async #look() {
    const { servers, masterCount, named } = this.#world
    const at = now()
    const roles = await Promise.all(servers.map((one) => (one.isDown ? 'down' : one.role())))
    const masters = servers.filter((_, i) => roles[i] === 'master')
    const ports = masters.map(({ port }) => port).join()
    const agreed = named === undefined || String(await portsOf(named())) === ports
    this.#isSettled = agreed && masters.length === masterCount && !roles.includes(undefined)
    if (this.#masters === '') this.#masters = this.#isSettled ? ports : ''
    if (masters.some(({ port }) => !this.#masters.includes(`${port}`))) this.#hasChanged = true
    if (!this.#isSettled) return
    if (this.#hasChanged && !this.losesNothing)
      this.#tell({ from: this.#settledAt, to: now(), ports })
    this.#hasChanged = false
    this.#masters = ports
    this.#settledAt = at
  }
}

async function portsOf(servers) {
  return (await servers).map((one) => one?.port)
}
