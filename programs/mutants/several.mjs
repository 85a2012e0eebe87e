/** Mistakes with several locks as one. */
const MULTI = 'test/multi/multi-lock.test.ts'

export const several = [
  {
    id: 'held-while-waiting',
    mistake: 'What is held while another lock is waited for is never let go.',
    file: 'src/locks/multi/all-or-none.ts',
    search: '    if (isStopped) return\n    this.#reach.wasTooShort(inOrder)\n',
    replace:
      '    if (isStopped || this.#taken.size > 0) return\n    this.#reach.wasTooShort(inOrder)\n',
    test: 'test/multi/multi-waiting.test.ts',
    name: 'clients of one lock make progress while a MultiLock waits for a lock of another server',
  },
  {
    id: 'rest-kept',
    mistake: 'Where one lock is not to be had in time the others stay taken.',
    file: 'src/locks/multi/all-or-none.ts',
    search: '          await this.#letGo()\n          return null\n',
    replace: '          return null\n',
    test: MULTI,
    name: 'all locks are released at once, whichever lock is busy',
  },
  {
    id: 'waits-for-itself',
    mistake: 'A lock that is given through two clients of one server is waited for by who has it.',
    file: 'src/locks/multi/all-or-none.ts',
    search: 'if (!(await this.#hasAlready(busy))) {',
    replace: 'if (busy !== null) {',
    test: 'test/multi/servers.test.ts',
    name: 'a client does not wait for itself although a server could not be asked at first',
  },
  {
    id: 'lost-one-overlooked',
    mistake: 'All are said to be held although one was lost while the others were taken.',
    file: 'src/locks/multi/all-or-none.ts',
    search: '          lease.assertValid()\n',
    replace: '',
    test: 'test/multi/multi-waiting.test.ts',
    name: 'a lock that is lost meanwhile is acquired again',
  },
]
