import type { LockForVerbs } from '../../local/kind-verbs.ts'
import type { LocalLock } from '../../local/local-lock.ts'
import type { LockKind } from '../../local/lock-kind.ts'
import type { ReadWriteServer } from '../../servers/read-write-server.ts'
import type { LeaseRequest } from '../../waiting/waiter.ts'
import { ReadWriteVerbs } from './read-write-verbs.ts'
import { ReadWriteWaiter, UpgradableWaiter } from './read-write-waiter.ts'

/** The kinds of a read-write lock on one server, one for each side. */
export class ReadWriteKinds {
  readonly reading: LockKind
  /**
   * One owner at a time has the upgradable lock. This owner reads together with the readers, and
   * can change to writing.
   */
  readonly upgrading: LockKind
  readonly writing: LockKind
  readonly server: ReadWriteServer

  constructor(server: ReadWriteServer) {
    this.server = server
    const all = new WeakMap<object, ReadWriteVerbs>()
    const verbsOf = (lock: LockForVerbs) => {
      const verbs = all.get(lock) ?? new ReadWriteVerbs(server.lock(lock.rawName), lock)
      all.set(lock, verbs)
      return verbs
    }
    const both = {
      waitsInTurn: false,
      announcesWaits: true,
      whyNoVote: 'is one side of a read-write lock, which needs one server',
      renewal: server,
      newWaiter: (lock: LocalLock, request: LeaseRequest) => new ReadWriteWaiter(lock, request),
    } as const
    this.reading = {
      ...both,
      name: 'read',
      isShared: true,
      ownerId: (id) => server.ownerId(id, 'read'),
      newVerbs: (lock) => verbsOf(lock).reading,
    }
    this.upgrading = {
      ...both,
      name: 'upgradable',
      isShared: true,
      waitsAside: true,
      ownerId: (id) => server.ownerId(id, 'upgradable'),
      newVerbs: (lock) => verbsOf(lock).upgrading,
      newWaiter: (lock, request) => new UpgradableWaiter(lock, request),
    }
    this.writing = {
      ...both,
      name: 'write',
      isShared: false,
      ownerId: (id) => server.ownerId(id, 'write'),
      newVerbs: (lock) => verbsOf(lock).writing,
    }
  }
}
