import { InvalidArgumentError, show } from '../errors.ts'
import { LockNode } from '../redis/lock-node.ts'
import { quorumOf, quorumSettings } from '../redis/masters.ts'
import { isClient, isCluster } from '../redis/open.ts'
import type { Quorum } from '../redis/quorum.ts'
import type { Desk } from './desk.ts'
import { HoldfastLock } from './holdfast-lock.ts'
import { type Client, Office } from './office.ts'

/** A plain lock of one client, as a vote of a RedLock. */
interface Part {
  readonly name: string
  readonly rawName: string
  readonly desk: Desk
  readonly node: LockNode
}

interface Branch {
  readonly office: Office
  readonly quorum: Quorum
}

/** The RedLocks of one client: locks that are held by a majority of the servers of several. */
export class RedLocks {
  readonly #client: Client
  /** One for each set of clients whose servers vote. */
  readonly #branches = new Map<string, Branch>()
  #closed = false

  constructor(client: Client) {
    this.#client = client
  }

  /** @throws `InvalidArgumentError` unless each of the locks is a vote of its own */
  of(locks: readonly HoldfastLock[]): HoldfastLock {
    const { owners, settings } = this.#client
    if (locks.length === 0) throw refusal('it needs one lock of each master; got none')
    if (settings.silenceLimitMs !== undefined) {
      throw refusal(
        'a client with `watchdogThread` cannot have one yet, for the thread asks one server only',
      )
    }
    const parts = locks.map(partOf)
    const clients = new Set(parts.map(({ desk }) => desk))
    if (clients.size < parts.length) {
      throw refusal('two of the locks are of one client, and a server has one vote')
    }
    const explicit = locks.flatMap(({ access }) => access.actor.explicit ?? [])
    if (explicit.some(({ clientId }) => clientId !== owners.clientId)) {
      throw refusal('an `owner` must be of the client whose getRedLock() is called')
    }
    // In whatever order they are given it is the same lock.
    const votes = [...parts].sort((a, b) => (a.desk.clientId < b.desk.clientId ? -1 : 1))
    const rawName = JSON.stringify(votes.map((part) => part.rawName))
    const name = [...new Set(parts.map((part) => part.name))].join(', ')
    return new HoldfastLock(name, rawName, explicit[0], this.#branch(votes).office.desk, false)
  }

  /** Releases what is held and lets nobody wait any more. The other clients stay open. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.#branches.values()].map(close))
  }

  #branch(votes: readonly Part[]): Branch {
    const { settings } = this.#client
    const key = votes.map(({ desk }) => desk.clientId).join(' ')
    let branch = this.#branches.get(key)
    if (branch === undefined) {
      const nodes = votes.map(({ node }) => node)
      const { longestLeaseMs } = settings
      const quorum = quorumOf(nodes, quorumSettings(settings), (lock, at) => JSON.parse(lock)[at])
      const office = new Office(this.#client, { servers: quorum, nodes, longestLeaseMs })
      branch = { office, quorum }
      this.#branches.set(key, branch)
      if (this.#closed) void close(branch)
    }
    return branch
  }
}

async function close({ office, quorum }: Branch): Promise<void> {
  await office.close()
  quorum.close()
}

function partOf(lock: unknown): Part {
  if (!(lock instanceof HoldfastLock)) {
    throw refusal(`it is made of locks from getLock(); got ${show(lock)}`)
  }
  const { desk, rawName, fair } = lock.access
  const { name } = lock
  if (fair) throw refusal(`${show(name)} is a fair lock, whose queue needs one server`)
  const { node } = desk
  if (!(node instanceof LockNode)) {
    throw refusal(`${show(name)} is held by a majority already; it takes locks of one server each`)
  }
  if (isClient(node.source) && isCluster(node.source)) {
    throw refusal(`${show(name)} is a lock of a cluster, which is no independent master`)
  }
  return { name, rawName, desk, node }
}

function refusal(why: string): InvalidArgumentError {
  return new InvalidArgumentError(`getRedLock(...locks): ${why}.`)
}
