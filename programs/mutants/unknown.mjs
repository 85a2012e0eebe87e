/** Mistakes with lost or late requests and answers. */
const LATE_REQUESTS = 'test/lock/lock-late-requests.test.ts'

export const unknown = [
  {
    id: 'unknown-is-no',
    mistake:
      'A request without an answer counts as refused, and the lock that it may get is not released.',
    file: 'src/local/request.ts',
    search:
      '    if (unknown) this.#inDoubt(waiter.request.isSingleAttempt ? now : sentAt.monotonic)\n',
    replace: '',
    test: LATE_REQUESTS,
    name: 'is released when its caller was aborted',
  },
  {
    id: 'settled-early',
    mistake:
      'A request in doubt is released only once, although the request may run after the release.',
    file: 'src/servers/pending-releases.ts',
    search: '      if (sentAtMs >= one.untilMs) this.#settled(one)\n',
    replace: '      if (sentAtMs >= 0) this.#settled(one)\n',
    test: LATE_REQUESTS,
    name: 'within its deadline is released again, after its caller has acquired and released the lock',
  },
  {
    id: 'sure-at-answer',
    mistake:
      'A release counts from its answer, although a late request may have run before that answer.',
    file: 'src/local/release-request.ts',
    search: 'abandonIfInDoubt(lock, hold, this.#firstSentAt)',
    replace: 'abandonIfInDoubt(lock, hold, performance.now())',
    test: LATE_REQUESTS,
    name: 'a request that runs between its release and the answer to the release leaves no lock behind',
  },
  {
    id: 'name-used-again',
    mistake: 'A name is used again, so the release of the old attempt ends the new hold.',
    file: 'src/owner/owner.ts',
    search: 'return this.#attempts === 1 ? first :',
    replace: 'return this.#attempts > 0 ? first :',
    test: 'test/owner/same-owner.test.ts',
    name: 'after an abort does not release the lock of a later attempt of its owner',
  },
  {
    id: 'unsent-is-done',
    mistake: 'A release that was never sent counts as done if the lock is gone later.',
    file: 'src/local/release-request.ts',
    search: "this.mayBeDone ||= failure.kind === 'unknown'",
    replace: 'this.mayBeDone = true',
    test: 'test/faults/release-not-done.test.ts',
    name: 'reports the loss of the lock when the first request was never sent',
  },
  {
    id: 'lower-told-again',
    mistake: 'A request to lower a count is sent again although it came too late.',
    file: 'src/servers/redis/lock-bindings.ts',
    search: 'asksAgain: false',
    replace: 'asksAgain: true',
    test: 'test/servers/servers-set-clock.test.ts',
    name: 'a nested release that came too late does not undo a re-entry made meanwhile',
  },
  {
    id: 'nothing-after-unlock',
    mistake: 'A release that Redis does not confirm in time is not repeated in the background.',
    file: 'src/local/release-request.ts',
    search: '      lock.abandonHold(hold)\n',
    replace: '',
    test: 'test/faults/faults-outage.test.ts',
    name: '`unlock()` rejects because it was not confirmed, and the lock is free soon after the outage',
  },
  {
    id: 'scripts-not-known',
    mistake: 'The client does not send scripts again that the server has forgotten.',
    file: 'src/servers/redis/calls/script-call.ts',
    search: "message.startsWith('NOSCRIPT')",
    replace: 'false',
    test: 'test/multi/multi-lock.test.ts',
    name: 'a multi-lock works after the server forgets its scripts',
  },
  {
    id: 'force-by-name',
    mistake:
      'forceUnlock() ends any later hold of the same name, and not only the hold that it saw.',
    file: 'src/servers/redis/redis-lock.ts',
    search: 'return holder === null ? null : { owner: holder, token }',
    replace: 'return holder === null ? null : { owner: holder, token: token && null }',
    test: 'test/lock/lock-force-unlock.test.ts',
    name: '`forceUnlock()` does not end a later hold of the same owner name',
  },
  {
    id: 'odd-answer-is-refusal',
    mistake: 'An invalid answer counts as a refusal, although the script may have run.',
    file: 'src/servers/redis/calls/script-call.ts',
    search: 'error instanceof CallFailure ? error : oddAnswer(this.script.name, reply)',
    replace:
      "error instanceof CallFailure ? error : new CallFailure('refused', String(reply), null, true)",
    test: 'test/faults/odd-answers.test.ts',
    name: 'to one request of an acquisition costs one try',
  },
  {
    id: 'bunch-overtakes',
    mistake: 'A single call overtakes an earlier release of the same lock in a batch.',
    file: 'src/servers/redis/calls/batch.ts',
    search:
      'if (this.#calls.length > 0 && keys.some((key) => this.#locks.has(key))) this.#sendAll()',
    replace:
      'if (this.#calls.length > MOST && keys.some((key) => this.#locks.has(key))) this.#sendAll()',
    test: 'test/servers/batch-order.test.ts',
    name: 'a check after a release in the same turn of the event loop sees that the lock is free',
  },
  {
    id: 'bunch-shares-deadline',
    mistake: 'All calls of a batch have the shortest of their deadlines.',
    file: 'src/servers/redis/calls/batch.ts',
    search: 'const leastMs = Math.min(longestMs, longestMs / 2)',
    replace: 'const leastMs = Math.min(longestMs, 0)',
    test: 'test/servers/batch-deadline.test.ts',
    name: 'a call with little time does not shorten the time of other calls that are sent with it',
  },
]
