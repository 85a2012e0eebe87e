const ACQUISITIONS = 'test/durability/acquisitions.test.ts'
const UNKNOWN = 'test/durability/unknown.test.ts'
const KINDS = 'test/durability/durability-kinds.test.ts'
const CLUSTER = 'test/durability/durability-cluster.test.ts'

const CALL = 'src/servers/redis/durability/confirm-call.ts'
const CONFIRMATIONS = 'src/servers/redis/durability/confirmations.ts'
const CONFIRM = 'src/local/confirm.ts'

/** Mistakes with acquisitions that count only after replicas have them. */
export const durability = [
  {
    id: 'one-replica-of-many',
    mistake: 'One replica that has the acquisition counts as enough, although more are wanted.',
    file: CONFIRMATIONS,
    search: 'if (replicas < least || fsynced === false) {',
    replace: 'if (replicas < 1 || fsynced === false) {',
    test: ACQUISITIONS,
    name: 'an acquisition without enough replicas in time is undone once and rejects',
  },
  {
    id: 'zero-replicas-is-all',
    mistake: 'If no replica is connected, all replicas count as confirmed.',
    file: CONFIRMATIONS,
    search: 'Math.max(listed ?? 0, 1)',
    replace: '(listed ?? 0)',
    test: ACQUISITIONS,
    name: 'wanted, is undone until a replica comes',
  },
  {
    id: 'shortfall-not-undone',
    mistake: 'After a shortfall the lock stays granted, and no caller knows this.',
    file: CONFIRM,
    search: 'abandonId(lock, waiter)',
    replace: 'waiter.ownerId = undefined',
    test: ACQUISITIONS,
    name: 'an acquisition without enough replicas in time is undone once and rejects',
  },
  {
    id: 'shortfall-undone-twice',
    mistake:
      'After a shortfall two requests release the lock: one for the shortfall, and one for the abandoned name.',
    file: CONFIRM,
    search: 'abandonId(lock, waiter)',
    replace: 'lock.abandon(request, ownerId, 0, request.leaseMs)\n    abandonId(lock, waiter)',
    test: ACQUISITIONS,
    name: 'an acquisition without enough replicas in time is undone once and rejects',
  },
  {
    id: 'confirmed-but-not-held',
    mistake: 'A confirmation of the replicas counts, although another client has the lock by now.',
    file: CONFIRMATIONS,
    search: "remaining === 'gone' ? 'gone' : 'confirmed'",
    replace: "'confirmed'",
    test: UNKNOWN,
    name: 'a lock that another client holds at the end of WAIT is not acquired',
  },
  {
    id: 'silence-is-a-shortfall',
    mistake: 'If WAIT has no answer, the client reports that the replicas lack the acquisition.',
    file: CONFIRMATIONS,
    search: 'reply.failed(failure as CallFailure)\n    }\n  }\n\n  #wait',
    replace:
      "reply.answered({ kind: 'short', wanted, confirmed: 0, connected: undefined, fsynced: undefined, timeoutMs })\n    }\n  }\n\n  #wait",
    test: UNKNOWN,
    name: 'rejects as in an outage, and the lock is released',
  },
  {
    id: 'unknown-is-confirmed',
    mistake: 'If WAIT has no answer, the acquisition counts as confirmed.',
    file: CONFIRM,
    search: '.catch((failure: CallFailure) => failure)',
    replace: ".catch(() => ({ kind: 'confirmed' }) as const)",
    test: UNKNOWN,
    name: 'rejects as in an outage, and the lock is released',
  },
  {
    id: 'wait-on-the-command-connection',
    mistake: 'WAIT uses the connection of all commands, and delays them.',
    file: 'src/servers/redis/redis-server.ts',
    search: 'new Confirmations(waiting, timeoutMs, durability)',
    replace: 'new Confirmations(this.#connection, timeoutMs, durability)',
    test: ACQUISITIONS,
    name: 'a confirmation delays no other call of the client',
  },
  {
    id: 'no-write-before-wait',
    mistake: 'WAIT is sent on a connection that has written nothing.',
    file: CALL,
    search: "node.set(confirmKey(rawName), '', 'PX', 1)",
    replace: 'node.ping()',
    test: ACQUISITIONS,
    name: 'a confirmation is a write, then WAIT, then a check, on its own connection',
  },
  {
    id: 'one-wait-for-each',
    mistake: 'Each lock has its own WAIT, one after the other.',
    file: CONFIRMATIONS,
    search: 'await this.#confirm(all)',
    replace: 'for (const one of all) await this.#confirm([one])',
    test: ACQUISITIONS,
    name: 'a confirmation covers all locks that were granted meanwhile',
  },
  {
    id: 'wait-at-another-master',
    mistake: 'In a cluster, WAIT is sent to any master.',
    file: CALL,
    search: 'masterOf(client, slotOf(key))',
    replace: 'masterOf(client, 16_383 - slotOf(key))',
    test: CLUSTER,
    name: 'the replica of its own master has each lock',
  },
  {
    id: 'abort-waits-for-replicas',
    mistake: 'An aborted call keeps the lock until the replicas have answered.',
    file: CONFIRM,
    search: 'waiter.promise.then(wantedNoMore, wantedNoMore),',
    replace: '',
    test: UNKNOWN,
    name: 'an abort during WAIT rejects at once, and the granted lock is released once',
  },
  {
    id: 'time-up-while-confirming-is-null',
    mistake:
      'A wait that ends before the replicas confirm reports that another holder has the lock.',
    file: CONFIRM,
    search: 'waiter.notYet = unconfirmed',
    replace: 'void unconfirmed',
    test: UNKNOWN,
    name: 'a call whose time ends during WAIT reports the missing confirmation, and leaves no lock',
  },
  {
    id: 'claim-not-confirmed',
    mistake:
      'A waiter of a fair lock holds the lock after its grant, even if no replica has the grant.',
    file: 'src/locks/fair/fair-waiter.ts',
    search: 'watchdog.hasStandIn || this.confirm !== undefined',
    replace: 'watchdog.hasStandIn',
    test: KINDS,
    name: 'a grant from the queue is confirmed, and without a confirmation the next waiter acquires the lock',
  },
  {
    id: 'hand-over-not-confirmed',
    mistake:
      'The next caller of the client holds the lock after a hand-over, even if no replica has it.',
    file: 'src/local/release.ts',
    search: 'if (lock.services.server.confirm !== undefined) return undefined',
    replace: '',
    test: KINDS,
    name: 'a waiter of the same client receives no hand-off, and its acquisition is confirmed',
  },
]
