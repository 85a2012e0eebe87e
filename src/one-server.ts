import { InvalidArgumentError } from './errors.ts'
import { refuseDetached } from './kit/handle.ts'
import { show } from './kit/show.ts'
import type { Backend } from './local/backend.ts'
import { closingError } from './local/closed-errors.ts'
import type { Holdings } from './local/holdings.ts'
import type { LockKind } from './local/lock-kind.ts'
import { FairLocks } from './locks/fair/fair-locks.ts'
import { type CountDownLatch, HoldfastCountDownLatch } from './locks/latch/count-down-latch.ts'
import { Latches } from './locks/latch/latches.ts'
import type { LeaderElection } from './locks/leader/leader-election.ts'
import { LeaderElections } from './locks/leader/leader-elections.ts'
import { HoldfastLock } from './locks/lock/holdfast-lock.ts'
import { ReadWriteKinds } from './locks/read-write/read-write-kinds.ts'
import { HoldfastReadWriteLock, type ReadWriteLock } from './locks/read-write/read-write-lock.ts'
import { ReadWriteSides } from './locks/read-write/read-write-sides.ts'
import { ExpirablePermits } from './locks/semaphore/expirable-permits.ts'
import { needsOneServer } from './locks/semaphore/needs-one-server.ts'
import {
  HoldfastPermitExpirableSemaphore,
  type PermitExpirableSemaphore,
} from './locks/semaphore/permit-expirable-semaphore.ts'
import { limitGiven } from './locks/semaphore/permit-options.ts'
import { HoldfastSemaphore, type Semaphore } from './locks/semaphore/semaphore.ts'
import { Semaphores } from './locks/semaphore/semaphores.ts'
import type { GetLockOptions } from './options/options.ts'
import { ownerOf } from './owner/owner.ts'
import type { Owners } from './owner/owners.ts'
import type { LockServer } from './servers/lock-server.ts'

interface Client {
  readonly owners: Owners
  readonly backend: Backend
  /** Returns the key in Redis of a lock, or of another object with a name. */
  rawName(name: string, what?: string): string
}

/**
 * The parts of a client that exist only with a single server. With several masters, the methods
 * that create these objects throw an error. The error names an alternative.
 */
export class OneServer {
  readonly #client: Client
  readonly #server: LockServer
  readonly #backend: Backend
  readonly #fairKind: FairLocks | undefined
  readonly #readWriteKinds: ReadWriteKinds | undefined
  readonly #permits: ExpirablePermits | undefined
  readonly #semaphores: Semaphores | undefined
  readonly #latches: Latches
  readonly #elections: LeaderElections

  constructor(client: Client, settings: { readonly label: string; readonly outageMs: number }) {
    const { owners, backend } = client
    const { clientId } = owners
    const { registry } = backend
    const { server } = registry
    this.#client = client
    this.#server = server
    this.#backend = backend
    const fair = server.fairFor?.(clientId, settings.label)
    this.#fairKind = fair && new FairLocks(server, fair, registry.clock)
    const readWrite = server.readWriteFor?.(clientId)
    this.#readWriteKinds = readWrite && new ReadWriteKinds(readWrite)
    const permits = server.permitsFor?.(clientId)
    this.#permits = permits && new ExpirablePermits(registry, permits)
    const semaphores = server.semaphoresFor?.(clientId, settings.outageMs)
    this.#semaphores = semaphores && new Semaphores(registry, semaphores)
    this.#latches = new Latches(clientId, registry.limits)
    this.#elections = new LeaderElections({
      id: clientId,
      label: settings.label,
      lock: (name, owner) =>
        this.fairLock(name, owner && { owner: owner.handle }, 'leader election'),
      newOwner: (suffix) => owners.next(suffix),
      channel: server.electionChannel?.bind(server),
    })
  }

  fairLock(name: string, options: GetLockOptions = {}, what?: string): HoldfastLock {
    const rawName = this.#client.rawName(name, what)
    if (this.#fairKind === undefined) {
      throw refused(
        `Fair lock ${show(name)}: its queue needs one server`,
        'Use getLock() here, or a',
        name,
      )
    }
    const { clientId } = this.#client.owners
    const kind: LockKind = this.#fairKind
    return new HoldfastLock(name, rawName, ownerOf(options, clientId), this.#backend.registry, kind)
  }

  readWriteLock(name: string, options: GetLockOptions): ReadWriteLock {
    const rawName = this.#client.rawName(name)
    const kinds = this.#readWriteKinds
    if (kinds === undefined) {
      throw refused(
        `Read-write lock ${show(name)}: it needs one server`,
        'Use getLock() here, or a',
        name,
      )
    }
    const owner = ownerOf(options, this.#client.owners.clientId)
    const locks = this.#backend.registry
    const sides = new ReadWriteSides({ name, rawName, owner, locks, kinds })
    return new HoldfastReadWriteLock(name, sides)
  }

  permitExpirableSemaphore(name: string, options: unknown): PermitExpirableSemaphore {
    const rawName = this.#client.rawName(name, 'semaphore')
    const limit = limitGiven(options)
    if (this.#permits === undefined) throw needsOneServer(name)
    return new HoldfastPermitExpirableSemaphore(name, rawName, this.#permits, limit)
  }

  semaphore(name: string, others: unknown[]): Semaphore {
    const rawName = this.#client.rawName(name, 'semaphore')
    assertAlone('getSemaphore', others, SETS_PERMITS)
    if (this.#semaphores === undefined) throw needsOneServer(name)
    return new HoldfastSemaphore(name, rawName, this.#semaphores)
  }

  countDownLatch(name: string, others: unknown[]): CountDownLatch {
    const rawName = this.#client.rawName(name, 'latch')
    assertAlone('getCountDownLatch', others, 'trySetCount() sets its count.')
    const remote = this.#server.latch?.(rawName)
    if (remote === undefined) {
      throw refused(`Latch ${show(name)}: its count needs one server`, 'Use a', name)
    }
    return new HoldfastCountDownLatch(name, rawName, remote, this.#latches)
  }

  leaderElection(name: string, options: unknown): LeaderElection {
    return this.#elections.of(name, options)
  }

  /**
   * The holds and waits that belong to no lock: permits without leases that `using` works with, and
   * calls that await latches.
   */
  get holdings(): Holdings {
    return { held: this.#semaphores?.held ?? [], waiting: this.#latches.waiting }
  }

  /** Requests all leaders to end their terms. Resolves when no work has permits without leases. */
  async drain(): Promise<void> {
    this.#elections.drain(closingError())
    await this.#semaphores?.drain()
  }

  /** Closes the elections, latches and semaphores. The locks are closed later. */
  async closeOthers(): Promise<void> {
    this.#elections.close()
    await Promise.all([this.#latches.close(), this.#semaphores?.close()])
  }

  /** Called when all locks are released. */
  close(): void {
    this.#fairKind?.close()
  }
}

refuseDetached(HoldfastReadWriteLock, 'readWriteLock')
refuseDetached(HoldfastCountDownLatch, 'latch')
refuseDetached(HoldfastSemaphore, 'semaphore')
refuseDetached(HoldfastPermitExpirableSemaphore, 'semaphore')

const SETS_PERMITS =
  'trySetPermits() sets the number of permits; getPermitExpirableSemaphore(name, { permits }) takes it as an option.'

/**
 * Throws if arguments follow the name. Similar methods accept such arguments, but here they would
 * have no effect.
 */
function assertAlone(get: string, others: readonly unknown[], how: string): void {
  if (others.length === 0) return
  throw new InvalidArgumentError(`${get}(name) takes only a name; got ${show(others[0])}. ${how}`)
}

function refused(what: string, instead: string, name: string): InvalidArgumentError {
  return new InvalidArgumentError(
    `${what}, and this client has independent masters. ${instead} client with \`redis\`.`,
    name,
  )
}
