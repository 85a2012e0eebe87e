const ACQUISITIONS = 'test/durability/acquisitions.test.ts'
const UNKNOWN = 'test/durability/unknown.test.ts'
const KINDS = 'test/durability/durability-kinds.test.ts'
const CLUSTER = 'test/durability/durability-cluster.test.ts'

const CALL = 'src/servers/redis/durability/confirm-call.ts'
const CONFIRMATIONS = 'src/servers/redis/durability/confirmations.ts'
const CONFIRM = 'src/local/confirm.ts'

/** Of acquisitions that have to be on replicas before they count. */
export const durability = [
  {
    id: 'one-replica-of-many',
    mistake: 'One replica that has it is as good as all that are wanted.',
    file: CONFIRMATIONS,
    search: 'if (replicas < least || fsynced === false) {',
    replace: 'if (replicas < 1 || fsynced === false) {',
    test: ACQUISITIONS,
    name: 'an acquisition without enough replicas in time is undone once and rejects',
  },
  {
    id: 'zero-replicas-is-all',
    mistake: 'Where no replica is connected all of them have it.',
    file: CONFIRMATIONS,
    search: 'Math.max(listed ?? 0, 1)',
    replace: '(listed ?? 0)',
    test: ACQUISITIONS,
    name: 'wanted, is undone until a replica comes',
  },
  {
    id: 'shortfall-not-undone',
    mistake: 'What fell short stays granted, and nobody knows of it.',
    file: CONFIRM,
    search: 'abandonId(lock, waiter)',
    replace: 'waiter.wireOwner = undefined',
    test: ACQUISITIONS,
    name: 'an acquisition without enough replicas in time is undone once and rejects',
  },
  {
    id: 'shortfall-undone-twice',
    mistake:
      'What fell short is released by who finds that out, and by who gives up its name as well.',
    file: CONFIRM,
    search: 'abandonId(lock, waiter)',
    replace: 'lock.abandon(request, wireOwner, 0, request.leaseMs)\n    abandonId(lock, waiter)',
    test: ACQUISITIONS,
    name: 'an acquisition without enough replicas in time is undone once and rejects',
  },
  {
    id: 'confirmed-but-not-held',
    mistake: 'What the replicas have counts, although somebody else has the lock by now.',
    file: CONFIRMATIONS,
    search: "remaining === 'gone' ? 'gone' : 'confirmed'",
    replace: "'confirmed'",
    test: UNKNOWN,
    name: 'a lock that another client holds at the end of WAIT is not acquired',
  },
  {
    id: 'silence-is-a-shortfall',
    mistake: 'Where WAIT is not answered the replicas are said to lack it.',
    file: CONFIRMATIONS,
    search: 'reply.failed(failure as CallFailure)\n    }\n  }\n\n  #wait',
    replace:
      "reply.answered({ kind: 'short', wanted, confirmed: 0, connected: undefined, fsynced: undefined, timeoutMs })\n    }\n  }\n\n  #wait",
    test: UNKNOWN,
    name: 'rejects as in an outage, and the lock is released',
  },
  {
    id: 'unknown-is-confirmed',
    mistake: 'Where WAIT is not answered the replicas are taken to have it.',
    file: CONFIRM,
    search: '.catch((failure: CallFailure) => failure)',
    replace: ".catch(() => ({ kind: 'confirmed' }) as const)",
    test: UNKNOWN,
    name: 'rejects as in an outage, and the lock is released',
  },
  {
    id: 'wait-on-the-command-connection',
    mistake: 'WAIT goes where all commands go, and holds them up.',
    file: 'src/servers/redis/redis-server.ts',
    search: 'new Confirmations(waiting, timeoutMs, durability)',
    replace: 'new Confirmations(this.#connection, timeoutMs, durability)',
    test: ACQUISITIONS,
    name: 'a confirmation delays no other call of the client',
  },
  {
    id: 'no-write-before-wait',
    mistake: 'WAIT is asked on a connection that has written nothing.',
    file: CALL,
    search: "node.set(confirmKey(rawName), '', 'PX', 1)",
    replace: 'node.ping()',
    test: ACQUISITIONS,
    name: 'a confirmation is a write, then WAIT, then a check, on its own connection',
  },
  {
    id: 'one-wait-for-each',
    mistake: 'Each lock has a WAIT of its own, one after the other.',
    file: CONFIRMATIONS,
    search: 'await this.#confirm(all)',
    replace: 'for (const one of all) await this.#confirm([one])',
    test: ACQUISITIONS,
    name: 'a confirmation covers all locks that were granted meanwhile',
  },
  {
    id: 'wait-at-another-master',
    mistake: 'In a cluster the replicas of any master are waited for.',
    file: CALL,
    search: 'masterOf(client, slotOf(key))',
    replace: 'masterOf(client, 16_383 - slotOf(key))',
    test: CLUSTER,
    name: 'the replica of its own master has each lock',
  },
  {
    id: 'abort-waits-for-replicas',
    mistake: 'Who is aborted keeps the lock until the replicas have answered.',
    file: CONFIRM,
    search: 'waiter.promise.then(wantedNoMore, wantedNoMore),',
    replace: '',
    test: UNKNOWN,
    name: 'an abort during WAIT rejects at once, and the granted lock is released once',
  },
  {
    id: 'time-up-while-confirming-is-null',
    mistake: 'A wait that ends while the replicas are waited for says that somebody has the lock.',
    file: CONFIRM,
    search: 'waiter.notYet = unconfirmed',
    replace: 'void unconfirmed',
    test: UNKNOWN,
    name: 'a call whose time ends during WAIT reports the missing confirmation, and leaves no lock',
  },
  {
    id: 'claim-not-confirmed',
    mistake: 'Who is told that it was granted the lock in turn has it, whoever has heard of that.',
    file: 'src/locks/fair/fair-waiter.ts',
    search: 'watchdog.hasStandIn || this.confirm !== undefined',
    replace: 'watchdog.hasStandIn',
    test: KINDS,
    name: 'a grant from the queue is confirmed, and without a confirmation the next waiter acquires the lock',
  },
  {
    id: 'hand-over-not-confirmed',
    mistake: 'Whom the lock passes to inside the client has it, whatever the replicas have.',
    file: 'src/local/release.ts',
    search: 'if (lock.services.server.confirm !== undefined) return undefined',
    replace: '',
    test: KINDS,
    name: 'a waiter of the same client receives no hand-off, and its acquisition is confirmed',
  },
]
