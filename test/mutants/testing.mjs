const TIME = 'test/memory/virtual-time.test.ts'
const SERVER = 'test/memory/test-server.test.ts'
const CLOCK = 'src/servers/memory/virtual-clock.ts'

/** Of the server in memory, as tests of users have it. */
export const testing = [
  {
    id: 'time-in-one-leap',
    mistake: 'Virtual time passes on before what was due has been done.',
    file: CLOCK,
    search: '      next.work()\n      await this.#settle()\n',
    replace: '      next.work()\n',
    test: TIME,
    name: 'a watched lease is renewed for as long as time passes, an hour in no time',
  },
  {
    id: 'time-in-any-order',
    mistake: 'What is due in virtual time happens in the order in which it was set up.',
    file: CLOCK,
    search: 'timer.dueAt < (first?.dueAt ?? Infinity)',
    replace: 'first === undefined',
    test: TIME,
    name: 'within a single step the order is the same',
  },
  {
    id: 'lost-and-not-given-away',
    mistake: 'lose() tells the holder, and the server keeps its lease.',
    file: 'src/testing.ts',
    search: 'const ending = { owner: hold.id.wireOwner,',
    replace: "const ending = { owner: 'nobody',",
    test: SERVER,
    name: 'is lost when it returns, and the server has nothing of it',
  },
  {
    id: 'outage-answers',
    mistake: 'What was asked before an outage is answered in it.',
    file: 'src/servers/memory/memory-connection.ts',
    search: '(server.whyOut === undefined ? tell() : reject(LOST))',
    replace: 'tell()',
    test: SERVER,
    name: 'what was given up in it is free when it is over',
  },
  {
    id: 'outage-without-an-end',
    mistake: 'Nobody is told that an outage is over.',
    file: 'src/servers/memory/memory-server.ts',
    search: '.cameBack()\n    this.lookAgain()\n',
    replace: '.cameBack()\n',
    test: SERVER,
    name: 'that is short is outlived: by who waits, by a lease, by a release',
  },
]
