const ELECTION = 'test/leader/election.test.ts'
const FAULTS = 'test/leader/leader-faults.test.ts'
const WATCH = 'test/leader/leader-watch.test.ts'
const DRAINING = 'test/leader/leader-draining.test.ts'

/** Mistakes with elections. */
export const leader = [
  {
    id: 'released-while-it-runs',
    mistake: 'A leader that resigns releases the lock although its function continues.',
    file: 'src/locks/leader/campaign.ts',
    search: 'Promise.race([this.#finished, whenLost(lease)]).then(() => lease.release())',
    replace: 'lease.release()',
    test: ELECTION,
    name: 'a function that ignores `resign()` keeps a renewed lease, and the next candidate waits',
  },
  {
    id: 'leads-on-when-resigned',
    mistake: 'A candidate that has resigned counts as the leader until its function has ended.',
    file: 'src/locks/leader/term.ts',
    search: 'return !this.#isOver && this.#lease.valid',
    replace: 'return this.#lease.valid',
    test: ELECTION,
    name: 'after `resign()` the next candidate leads as soon as the function ends, without a wait for the lease',
  },
  {
    id: 'drained-for-ever',
    mistake:
      'A function that ignores the end of its term blocks others for longer than `maxDrainMs`.',
    file: 'src/locks/leader/campaign.ts',
    search:
      'if (!this.#isEnding)\n      this.#lock.registry.limitDrain((leaseBehind(lease) as HeldLease).hold, this.#maxDrainMs)',
    replace: '',
    test: DRAINING,
    name: 'a leader whose function continues is renewed for `maxDrainMs`, and then the next candidate leads',
  },
  {
    id: 'drained-anew',
    mistake: 'Each further call of resign() starts `maxDrainMs` again.',
    file: 'src/locks/leader/campaign.ts',
    search: 'if (!this.#isEnding)\n      this.#lock',
    replace: 'this.#lock',
    test: DRAINING,
    name: 'the first of several calls that end a term sets the time limit',
  },
  {
    id: 'resigns-without-an-end',
    mistake: 'resign() waits for a function whose lease has ended.',
    file: 'src/locks/leader/campaign.ts',
    search: 'Promise.race([this.#finished, whenLost(lease)])',
    replace: '(this.#finished ?? whenLost(lease))',
    test: DRAINING,
    name: '`resign()` returns false when the lease ends before the function does',
  },
  {
    id: 'waits-for-itself-to-resign',
    mistake: 'resign() inside the function waits for the end of the function.',
    file: 'src/locks/leader/leader-election.ts',
    search: 'this.#lock.currentOwner.leaseHolder() !== campaign.owner',
    replace: 'campaign.owner !== undefined',
    test: ELECTION,
    name: '`resign()` inside the function does not wait for the function',
  },
  {
    id: 'no-announcement',
    mistake: 'A new leader announces nothing.',
    file: 'src/locks/leader/leader-election.ts',
    search: 'this.#channel.announce(token, callMs)',
    replace: 'Promise.resolve(callMs)',
    test: ELECTION,
    name: '`changed` emits each term once, and null without a leader, after `isLeading` has changed',
  },
  {
    id: 'vacancy-unheard',
    mistake: 'An observer does not learn of the end of a term without a next leader.',
    file: 'src/locks/leader/leader-election.ts',
    search: '[remote.listen(onWake), this.#channel.listen(onWake)]',
    replace: '[this.#channel.listen(onWake)]',
    test: ELECTION,
    name: '`changed` emits each term once, and null without a leader, after `isLeading` has changed',
  },
  {
    id: 'event-before-state',
    mistake: 'A leader whose lock was taken away learns this only at its next renewal.',
    file: 'src/locks/leader/leader-election.ts',
    search: 'if (campaign?.leads) await campaign.term?.verify()',
    replace: 'void campaign',
    test: FAULTS,
    name: 'has `isLeading` false before it receives the change after a `forceUnlock()`',
  },
  {
    id: 'led-by-a-grant-given-up',
    mistake:
      'A candidate reports its own leadership because of a grant that it has already given up.',
    file: 'src/locks/leader/leader-elections.ts',
    search: 'return ![...this.#campaigns].some',
    replace: 'return false && [...this.#campaigns].some',
    test: FAULTS,
    name: 'does not receive its own leadership for a grant that it has given up',
  },
  {
    id: 'older-after-newer',
    mistake: 'An observer reports an older term after a newer term.',
    file: 'src/locks/leader/leader-watch.ts',
    search: 'if (leader.token < this.#lastToken) return',
    replace: 'if (leader.token < 0) return',
    test: WATCH,
    name: 'a watch reports no earlier term after a later term, as a stale replica would show it',
  },
  {
    id: 'told-by-a-late-look',
    mistake: 'A look that began before a term is reported after this term.',
    file: 'src/locks/leader/leader-watch.ts',
    search: 'this.#epoch += 1\n    this.#report(leader)',
    replace: 'this.#report(leader)',
    test: WATCH,
    name: 'a watch reports a term of this process at once, and ignores an older check',
  },
  {
    id: 'no-look-without-message',
    mistake: 'A change whose message was lost is never seen.',
    file: 'src/locks/leader/leader-watch.ts',
    search:
      'if (this.#isWatching) this.#timer = this.#host.clock.after(waitMs, () => this.check()).unref()',
    replace: 'void waitMs',
    test: FAULTS,
    name: 'without messages finds a change by its own check, within a third of its lease',
  },
]
