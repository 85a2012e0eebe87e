/** Mistakes with several locks as one. */
const MULTI = 'test/multi/multi-lock.test.ts'

export const several = [
  {
    id: 'held-while-waiting',
    mistake: 'What is held while another lock is waited for is never let go.',
    file: 'src/locks/gathering.ts',
    search: '    if (over) return\n    this.#reach.wasTooShort(inOrder)\n',
    replace: '    if (over || this.#taken.size > 0) return\n    this.#reach.wasTooShort(inOrder)\n',
    test: 'test/multi/waiting.test.ts',
    name: 'get on while a MultiLock waits for the other one',
  },
  {
    id: 'rest-kept',
    mistake: 'Where one lock is not to be had in time the others stay taken.',
    file: 'src/locks/gathering.ts',
    search: '          await this.#letGo()\n          return null\n',
    replace: '          return null\n',
    test: MULTI,
    name: 'gives all back when one of them is not to be had in time',
  },
  {
    id: 'given-order',
    mistake:
      'Locks are taken in the order in which they were given, which is another for each caller.',
    file: 'src/locks/order.ts',
    search: 'return [...placed].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one)',
    replace: 'return [...placed].map(([, one]) => one)',
    test: 'test/multi/waiting.test.ts',
    name: 'among those who want other sets of its fair locks',
  },
  {
    id: 'twin-taken-twice',
    mistake: 'A lock that is given through two clients of one server waits for itself.',
    file: 'src/locks/order.ts',
    search: 'if (!placed.has(place)) placed.set(place, one)',
    replace: 'placed.set(place + one.access.desk.clientId, one)',
    test: MULTI,
    name: 'a lock that is given through two clients of one server is taken once',
  },
  {
    id: 'release-stops-at-error',
    mistake: 'Where the release of one lock is not confirmed unlock() tells nobody.',
    file: 'src/lease/multi-lease.ts',
    search: 'if (this.#unconfirmed.length > 0) throw oneOf(this.#unconfirmed, this.name)',
    replace: '',
    test: MULTI,
    name: 'release goes on past a server that does not answer, and unlock tells of it',
  },
  {
    id: 'short-fixed-leases',
    mistake: 'The locks that were had first have less of their fixed lease left than the others.',
    file: 'src/locks/gathering.ts',
    search: 'lease.remaining() < leaseMs * FRESH',
    replace: 'lease.remaining() < leaseMs * (FRESH - 1)',
    test: MULTI,
    name: 'a fixed lease lasts as long for all, also for those that were had first',
  },
  {
    id: 'lost-one-overlooked',
    mistake: 'All are said to be held although one was lost while the others were taken.',
    file: 'src/locks/gathering.ts',
    search: '          lease.assertValid()\n',
    replace: '',
    test: 'test/multi/waiting.test.ts',
    name: 'one that is lost is taken anew',
  },
]
