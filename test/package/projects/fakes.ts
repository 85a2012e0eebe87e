// Fakes that a user writes by hand for the parameters of their code. They are type-checked against the packed package,
// but never run.

import type {
  Holdfast,
  Lease,
  Lock,
  LockInfo,
  MultiLock,
  Permit,
  PermitExpirableSemaphore,
  Semaphore,
  Term,
  TryUsingOptions,
} from 'holdfast'

class FakeLease implements Lease {
  readonly name = 'order'
  readonly owner = 'me'
  readonly token = 1
  readonly signal = new AbortController().signal
  readonly releaseRequested = new AbortController().signal
  readonly valid = true
  remaining = () => 30_000
  assertValid = () => {}
  extend = async (_leaseMs: number) => {}
  release = async () => true
  async [Symbol.asyncDispose]() {}
}

class FakeLock implements Lock {
  readonly name = 'order'
  lock = async () => new FakeLease()
  tryLock = async (): Promise<Lease | null> => null
  async using<T>(fn: (lease: Lease) => Promise<T> | T): Promise<T> {
    return fn(new FakeLease())
  }
  async tryUsing<T, U = null>(_: unknown, options: TryUsingOptions<U> = {}): Promise<T | U> {
    return (options.otherwise ?? null) as U
  }
  unlock = async () => {}
  isLocked = async () => true
  isHeld = async () => false
  holdCount = async () => 0
  remainingMs = async () => 0
  whenFree = async () => true
  onFree = () => () => {}
  requestRelease = async () => 0
  forceUnlock = async () => false
  why = async () => ({ name: 'order', outcome: 'free', text: '' }) as never
  async inspect(): Promise<LockInfo> {
    const nobody = { holder: null, holdCount: 0, ttlMs: null, token: 0, ageMs: null }
    return { ...nobody, waiters: 0, queue: [], queueLength: 0 }
  }
}

/** The code under test declares only the methods that it needs. */
interface Locks {
  getLock(name: string): Lock
  getMultiLock(...locks: Lock[]): Pick<MultiLock, 'using'>
  getSemaphore(name: string): Pick<Semaphore, 'using'>
}

async function ship(locks: Locks, permits: Pick<PermitExpirableSemaphore, 'using'>) {
  const lock = locks.getLock('order')
  await locks.getMultiLock(lock).using(({ leases }) => leases.map(({ token }) => token))
  return lock.using((lease) => permits.using((permit) => write(lease, permit)))
}
const write = async (lease: Lease, { permits }: Permit) => lease.token + permits
const lead = async ({ token, signal }: Term) => (signal.aborted ? 0 : token)

export async function withFakes(): Promise<number> {
  const permit: Permit = Object.assign(new FakeLease(), { permits: 1, ids: [] })
  const locks: Locks = {
    getLock: () => new FakeLock(),
    getMultiLock: () => ({
      using: async (fn) => fn(Object.assign(new FakeLease(), { leases: [] })),
    }),
    getSemaphore: () => ({ using: async (fn) => fn() }),
  }
  return ship(locks, { using: async (fn) => fn(permit) })
}

export async function withReal(holdfast: Holdfast): Promise<number> {
  await holdfast.getLeaderElection('billing').lead(lead)
  await holdfast
    .getMultiLock(holdfast.getReadWriteLock('a').readLock(), holdfast.getLock('b'))
    .lock()
  // @ts-expect-error: how a client is made inside is nobody's business
  holdfast.getLock('order').registry.close()
  return ship(holdfast, holdfast.getPermitExpirableSemaphore('permits'))
}
