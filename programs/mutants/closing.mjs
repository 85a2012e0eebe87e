const CLOSING = 'test/contract/closing.test.ts'
const DRAINING = 'test/local/local-draining.test.ts'

/** Mistakes at the end of a client. */
export const closing = [
  {
    id: 'drains-nobody-re-enters',
    mistake:
      'While a client drains, code that holds a lock cannot re-enter the lock, and waits forever.',
    file: 'src/local/local-locks.ts',
    search: 'this.find(rawName)?.isHeldBy(owner)) return',
    replace: 'this.find(rawName) === undefined) return',
    test: DRAINING,
    name: 'lets its holders read inside an upgradable lock, upgrade it, and re-enter a lock',
  },
  {
    id: 'drains-gives-new',
    mistake: 'A client that drains grants locks to new callers.',
    file: 'src/local/local-locks.ts',
    search: 'if (this.#draining === undefined) return\n    if',
    replace: 'if (owner !== undefined) return\n    if',
    test: CLOSING,
    name: 'close() with drainMs waits for the holder, who can still re-enter, and rejects every other acquisition',
  },
  {
    id: 'drains-waiters-stay',
    mistake: 'A waiter continues to wait after its client has begun to drain.',
    file: 'src/local/local-locks.ts',
    search: 'lock.waiters.rejectAll(closingError(lock.name), isNew)',
    replace: 'void isNew',
    test: DRAINING,
    name: 'ends the term of its leader and the wait of its candidate',
  },
  {
    id: 'drains-leader-not-told',
    mistake:
      'A leader does not learn that its client drains, and leads until its lock is taken away.',
    file: 'src/locks/leader/leader-elections.ts',
    search: 'this.#closing.abort(reason)',
    replace: 'void reason',
    test: DRAINING,
    name: 'ends the term of its leader and the wait of its candidate',
  },
  {
    id: 'drains-permits-forgotten',
    mistake: 'A client that drains does not wait for work with permits without leases.',
    file: 'src/locks/semaphore/semaphores.ts',
    search: 'if (this.#inUse.size === 0) return\n',
    replace: 'if (this.#inUse.size >= 0) return\n',
    test: DRAINING,
    name: '`close({ drainMs })` waits for work with',
  },
  {
    id: 'drains-not-hastened',
    mistake: 'A second close() does not end the waiting of the first.',
    file: 'src/kit/deadline.ts',
    search: 'at >= this.#at',
    replace: 'this.#at !== Infinity',
    test: DRAINING,
    name: 'a second `close()`',
  },
  {
    id: 'close-releases-at-once',
    mistake:
      'close() sends the releases of all locks at once, so the last of many get no answer in time.',
    file: 'src/local/close-all.ts',
    search: 'new LimitedTasks(clock, MOST_RELEASES,',
    replace: 'new LimitedTasks(clock, Infinity,',
    test: 'test/lock/closing-many.test.ts',
    name: 'waits for answers before it releases all locks',
  },
  {
    id: 'close-waits-only-once',
    mistake: 'close() ends the connection although releases are confirmed and others wait.',
    file: 'src/local/close-all.ts',
    search: 'while (!releases.isDone && releases.succeeded > confirmed)',
    replace: 'while (confirmed < 0)',
    test: 'test/local/close-all.test.ts',
    name: 'continues while releases are confirmed',
  },
  {
    id: 'close-waits-for-each-outage',
    mistake: 'close() waits for a server that does not answer once for each thousand locks.',
    file: 'src/kit/limited-tasks.ts',
    search: 'this.#isStalled = this.#checksSinceSuccess >= 2',
    replace: '',
    test: 'test/lock/closing-many.test.ts',
    name: 'sends all releases if no release is answered',
  },
  {
    id: 'cut-off-not-told',
    mistake: 'close() ends the holds of running work, and does not report these holds.',
    file: 'src/local/close-all.ts',
    search: 'cutOff: closing.flatMap(({ held }) => held)',
    replace: 'cutOff: []',
    test: CLOSING,
    name: 'close() returns the holds that it ended, with the owner and the token of each hold',
  },
]
