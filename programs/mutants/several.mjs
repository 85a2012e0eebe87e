/** Mistakes with multi-locks. */
const MULTI = 'test/multi/multi-lock.test.ts'

export const several = [
  {
    id: 'held-while-waiting',
    mistake: 'The locks that are held during a wait for another lock are never released.',
    file: 'src/locks/multi/all-or-none.ts',
    search: '    if (isStopped) return\n    this.#holdingTime.wasTooShort(inOrder)\n',
    replace:
      '    if (isStopped || this.#taken.size > 0) return\n    this.#holdingTime.wasTooShort(inOrder)\n',
    test: 'test/multi/multi-waiting.test.ts',
    name: 'clients of one lock make progress while a MultiLock waits for a lock of another server',
  },
  {
    id: 'rest-kept',
    mistake: 'If one lock is not acquired in time, the others stay acquired.',
    file: 'src/locks/multi/all-or-none.ts',
    search: '          await this.#letGo()\n          return null\n',
    replace: '          return null\n',
    test: MULTI,
    name: 'all locks are released at once, whichever lock is busy',
  },
  {
    id: 'waits-for-itself',
    mistake: 'A multi-lock that gets one lock through two clients of a server waits for itself.',
    file: 'src/locks/multi/all-or-none.ts',
    search: 'if (!(await this.#hasAlready(busy))) {',
    replace: 'if (busy !== null) {',
    test: 'test/multi/servers.test.ts',
    name: 'a client does not wait for itself although a server could not be asked at first',
  },
  {
    id: 'lost-one-overlooked',
    mistake: 'A multi-lock is granted although one lock was lost while the others were acquired.',
    file: 'src/locks/multi/all-or-none.ts',
    search: '          lease.assertValid()\n',
    replace: '',
    test: 'test/multi/multi-waiting.test.ts',
    name: 'a lock that is lost meanwhile is acquired again',
  },
]
