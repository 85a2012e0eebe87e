const TIME = 'test/memory/virtual-time.test.ts'
const SERVER = 'test/memory/test-server.test.ts'
const CLOCK = 'src/servers/memory/virtual-clock.ts'

/** Mistakes of the server in memory, as tests of users see them. */
export const testing = [
  {
    id: 'time-in-one-leap',
    mistake: 'Virtual time advances before the due work is done.',
    file: CLOCK,
    search: '      next.work()\n      await this.#untilIdle()\n',
    replace: '      next.work()\n',
    test: TIME,
    name: 'a watched lease is renewed for an hour of virtual time in one step',
  },
  {
    id: 'time-in-any-order',
    mistake:
      'Due work runs in the order in which it was scheduled, and not in the order of its times.',
    file: CLOCK,
    search: 'timer.dueAt < (first?.dueAt ?? Infinity)',
    replace: 'first === undefined',
    test: TIME,
    name: 'the order of events is the same within a single step',
  },
  {
    id: 'lost-and-not-given-away',
    mistake: 'lose() reports the loss to the holder, but the server keeps the lease.',
    file: 'src/testing.ts',
    search: 'const ending = { owner: hold.id.ownerId,',
    replace: "const ending = { owner: 'nobody',",
    test: SERVER,
    name: 'is lost when `lose()` returns, and the server keeps nothing of it',
  },
  {
    id: 'outage-answers',
    mistake: 'A request from before an outage gets its answer during the outage.',
    file: 'src/servers/memory/memory-record-store.ts',
    search: '(server.whyOut === undefined ? deliver() : reject(LOST))',
    replace: 'deliver()',
    test: SERVER,
    name: 'an acquisition that was given up in an outage leaves the lock free',
  },
  {
    id: 'outage-without-an-end',
    mistake: 'Nothing reports the end of an outage.',
    file: 'src/servers/memory/memory-server.ts',
    search: '.cameBack()\n    this.checkAgain()\n',
    replace: '.cameBack()\n',
    test: SERVER,
    name: 'waiters, leases and releases survive a short outage',
  },
]
