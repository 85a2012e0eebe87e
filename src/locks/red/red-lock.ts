import { InvalidArgumentError } from '../../errors.ts'
import { behind, otherCopy } from '../../kit/handle.ts'
import { show } from '../../kit/show.ts'
import { Backend, type SharedParts } from '../../local/backend.ts'
import type { CutOffHold, Holdings } from '../../local/holdings.ts'
import { together } from '../../local/list-holdings.ts'
import type { LocalLocks } from '../../local/local-locks.ts'
import { LEAST_LEASE_MS } from '../../local/short-leases.ts'
import type { Owner } from '../../owner/owner.ts'
import type { LockServer } from '../../servers/lock-server.ts'
import { HoldfastLock, type Lock } from '../lock/holdfast-lock.ts'
import { plainKind } from '../lock/plain-kind.ts'

/**
 * A plain lock that votes for a RedLock. Each such lock belongs to a different client. The server
 * of each client has one vote.
 */
interface RedLockPart {
  readonly name: string
  readonly rawName: string
  readonly registry: LocalLocks
  readonly explicit: Owner | undefined
  readonly server: LockServer
}

interface Branch {
  readonly backend: Backend
  readonly quorum: LockServer
}

/**
 * Makes a quorum of independent servers. `nameOf` returns the raw name of the lock on the server
 * with the index `at`.
 */
type NewQuorum = (
  servers: readonly LockServer[],
  nameOf: (rawName: string, at: number) => string,
) => LockServer

/** The RedLocks of one client. A RedLock is held if a majority of the servers grants it. */
export class RedLocks {
  readonly #client: SharedParts
  readonly #newQuorum: NewQuorum
  /** One entry for each set of voting clients. The key is a list of their client ids. */
  readonly #branches = new Map<string, Branch>()
  #draining = false
  #closed = false

  constructor(client: SharedParts, newQuorum: NewQuorum) {
    this.#client = client
    this.#newQuorum = newQuorum
  }

  /**
   * Returns the RedLock of these locks.
   *
   * @throws `InvalidArgumentError` unless each lock belongs to a different client and can vote.
   * Also for options that a RedLock does not support
   */
  of(locks: readonly Lock[]): HoldfastLock {
    const { owners, settings } = this.#client
    if (locks.length === 0) throw refusal('it needs one lock of each master; got none')
    if (settings.silenceLimitMs !== undefined) {
      throw refusal(
        'a client with `watchdogThread` is not supported yet, because the thread asks one server only',
      )
    }
    if (settings.durability !== undefined) {
      throw refusal(
        'a client with `durability` is not supported, because a majority of masters replaces the replicas',
      )
    }
    const parts = locks.map(partOf)
    const clients = new Set(parts.map(({ registry }) => registry))
    if (clients.size < parts.length) {
      throw refusal(
        'two of the locks belong to one client; pass one lock of each client, because each server has one vote',
      )
    }
    const explicit = parts.flatMap((part) => part.explicit ?? [])
    if (explicit.some(({ clientId }) => clientId !== owners.clientId)) {
      throw refusal('an `owner` must belong to the client whose getRedLock() you call')
    }
    // The same locks give a RedLock with the same raw name, in any order of the arguments.
    const votes = [...parts].sort((a, b) => (a.registry.clientId < b.registry.clientId ? -1 : 1))
    const rawName = JSON.stringify(votes.map((part) => part.rawName))
    const name = [...new Set(parts.map((part) => part.name))].join(', ')
    return new HoldfastLock(
      name,
      rawName,
      explicit[0],
      this.#branch(votes).backend.registry,
      plainKind,
    )
  }

  /**
   * Grants no new locks.
   *
   * @returns resolves when this client holds no RedLock
   */
  async drain(): Promise<void> {
    this.#draining = true
    await Promise.all(this.backends.map((backend) => backend.drain()))
  }

  /**
   * Releases all RedLocks and rejects all waiters. The other clients stay open.
   *
   * @returns the holds that this call ended
   */
  async shutDown(): Promise<CutOffHold[]> {
    this.#closed = true
    return (await Promise.all([...this.#branches.values()].map(shutDownBranch))).flat()
  }

  get backends(): Backend[] {
    return [...this.#branches.values()].map(({ backend }) => backend)
  }

  get holdings(): Holdings {
    const all = together(this.backends.map(({ registry }) => registry.holdings))
    return { held: all.held.map(asRedLock), waiting: all.waiting.map(asRedLock) }
  }

  #branch(votes: readonly RedLockPart[]): Branch {
    const { settings } = this.#client
    const key = votes.map(({ registry }) => registry.clientId).join(' ')
    let branch = this.#branches.get(key)
    if (branch === undefined) {
      const servers = votes.map(({ server }) => server)
      const quorum = this.#newQuorum(servers, (rawName, at) => JSON.parse(rawName)[at])
      const { longestLeaseMs } = settings
      const backend = new Backend(this.#client, {
        server: quorum,
        longestLeaseMs,
        leastLeaseMs: LEAST_LEASE_MS,
      })
      branch = { backend, quorum }
      this.#branches.set(key, branch)
      if (this.#draining) void backend.drain()
      if (this.#closed) void shutDownBranch(branch)
    }
    return branch
  }
}

async function shutDownBranch({ backend, quorum }: Branch): Promise<CutOffHold[]> {
  const cutOff = await backend.shutDown()
  quorum.disconnect()
  return cutOff.map(asRedLock)
}

const asRedLock = <E extends object>(entry: E) => ({ ...entry, kind: 'redlock' }) as const

function partOf(given: unknown): RedLockPart {
  const lock = behind(given, HoldfastLock)
  if (lock === undefined) {
    const other = otherCopy(given, `the lock ${show(Object(given).name)}`)
    if (other !== undefined) throw refusal(other)
    throw refusal(`it takes locks from getLock(); got ${show(given)}`)
  }
  const { name, registry, rawName, kind, currentOwner } = lock
  const { server } = registry
  const whyNot = kind.whyNoVote ?? server.whyNoVote
  if (whyNot !== null) throw refusal(`${show(name)} ${whyNot}`)
  return { name, rawName, registry, explicit: currentOwner.explicit, server }
}

function refusal(why: string): InvalidArgumentError {
  return new InvalidArgumentError(`getRedLock(...locks): ${why}.`)
}
