const TIME = 'test/memory/virtual-time.test.ts'
const SERVER = 'test/memory/test-server.test.ts'
const CLOCK = 'src/servers/memory/virtual-clock.ts'

/** Of the server in memory, as tests of users have it. */
export const testing = [
  {
    id: 'time-in-one-leap',
    mistake: 'Virtual time passes on before what was due has been done.',
    file: CLOCK,
    search: '      next.work()\n      await this.#untilIdle()\n',
    replace: '      next.work()\n',
    test: TIME,
    name: 'a watched lease is renewed for an hour of virtual time in one step',
  },
  {
    id: 'time-in-any-order',
    mistake: 'What is due in virtual time happens in the order in which it was set up.',
    file: CLOCK,
    search: 'timer.dueAt < (first?.dueAt ?? Infinity)',
    replace: 'first === undefined',
    test: TIME,
    name: 'the order of events is the same within a single step',
  },
  {
    id: 'lost-and-not-given-away',
    mistake: 'lose() tells the holder, and the server keeps its lease.',
    file: 'src/testing.ts',
    search: 'const ending = { owner: hold.id.wireOwner,',
    replace: "const ending = { owner: 'nobody',",
    test: SERVER,
    name: 'is lost when `lose()` returns, and the server keeps nothing of it',
  },
  {
    id: 'outage-answers',
    mistake: 'What was asked before an outage is answered in it.',
    file: 'src/servers/memory/memory-record-store.ts',
    search: '(server.whyOut === undefined ? deliver() : reject(LOST))',
    replace: 'deliver()',
    test: SERVER,
    name: 'an acquisition that was given up in an outage leaves the lock free',
  },
  {
    id: 'outage-without-an-end',
    mistake: 'Nobody is told that an outage is over.',
    file: 'src/servers/memory/memory-server.ts',
    search: '.cameBack()\n    this.checkAgain()\n',
    replace: '.cameBack()\n',
    test: SERVER,
    name: 'waiters, leases and releases survive a short outage',
  },
]
