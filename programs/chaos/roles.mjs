// When locks may have been lost by a change of masters: from when the masters were last known to be
// those of before, until each server that can answer says that it is a master, or none, as all agree.
// In between a client that has not heard yet may be granted a lock by a server that is no more asked.
import { setTimeout as pause } from 'node:timers/promises'
import { now } from './random.mjs'

export class Roles {
  #world
  #tell
  #isOver = false
  /** Those who were masters when all was settled last, and when that was asked. */
  #masters = ''
  #settledAt = now()
  /** Whether another one was a master since then. */
  #hasChanged = false
  #isSettled = true
  /** Whether what is done now takes no lock from anybody. */
  losesNothing = false
  #done

  /** @param tell called with `from`, `to` and the ports of the masters after each change */
  constructor(world, tell) {
    this.#world = world
    this.#tell = tell
    this.#done = this.#watch()
  }

  async stop() {
    this.#isOver = true
    await this.#done
    // They never agreed again: said, for nothing after that is judged well.
    if (this.#hasChanged) this.#tell({ from: this.#settledAt, to: now(), ports: 'not agreed on' })
  }

  /** Resolves when one change is over; the next one needs replicas that are up to date. */
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
