const ELECTION = 'test/leader/election.test.ts'
const FAULTS = 'test/leader/faults.test.ts'
const WATCH = 'test/leader/leader-watch.test.ts'

/** Of elections. */
export const leader = [
  {
    id: 'released-while-it-runs',
    mistake: 'Who resigns hands over although the function of the term goes on.',
    file: 'src/locks/leader/campaign.ts',
    search: 'this.#resigned ??= this.#over?.then(() => lease.release())',
    replace: 'this.#resigned ??= lease.release()',
    test: ELECTION,
    name: 'a function that ignores resign() keeps the others waiting, on a lease that is renewed',
  },
  {
    id: 'leads-on-when-resigned',
    mistake: 'Who has resigned counts as the leader until its function has ended.',
    file: 'src/locks/leader/term.ts',
    search: 'return !this.#isOver && this.#lease.valid',
    replace: 'return this.#lease.valid',
    test: ELECTION,
    name: 'resign() hands over at once when the function ends, with no wait for the lease',
  },
  {
    id: 'waits-for-itself-to-resign',
    mistake: 'A function that resigns waits for its own end.',
    file: 'src/locks/leader/leader-election.ts',
    search: 'this.#lock.currentOwner.leaseHolder() !== campaign.owner',
    replace: 'campaign.owner !== undefined',
    test: ELECTION,
    name: 'resign() inside the function does not wait for itself',
  },
  {
    id: 'no-announcement',
    mistake: 'Who begins to lead tells nobody.',
    file: 'src/locks/leader/leader-election.ts',
    search: 'this.#channel.announce(token, callMs)',
    replace: 'Promise.resolve(callMs)',
    test: ELECTION,
    name: 'tells each term once and vacancy as null, with the state before the event',
  },
  {
    id: 'vacancy-unheard',
    mistake: 'An observer does not listen for the end of a term that nobody follows.',
    file: 'src/locks/leader/leader-election.ts',
    search: '[remote.listen(onWake), this.#channel.listen(onWake)]',
    replace: '[this.#channel.listen(onWake)]',
    test: ELECTION,
    name: 'tells each term once and vacancy as null, with the state before the event',
  },
  {
    id: 'event-before-state',
    mistake: 'A leader is told of another one while it takes itself for the leader.',
    file: 'src/locks/leader/leader-election.ts',
    search: 'if (campaign?.leads) await campaign.term?.verify()\n    return !this.isLeading',
    replace: 'return true',
    test: FAULTS,
    name: 'that leads itself learns first that it does not, when the lock was taken away',
  },
  {
    id: 'older-after-newer',
    mistake: 'An observer is told of a term after a later one.',
    file: 'src/locks/leader/leader-watch.ts',
    search: 'if (leader.token < this.#lastToken) return',
    replace: 'if (leader.token < 0) return',
    test: WATCH,
    name: 'no term is told after a later one, as a replica that has taken over would have it',
  },
  {
    id: 'told-by-a-late-look',
    mistake: 'A look that was on its way when the term began is told after it.',
    file: 'src/locks/leader/leader-watch.ts',
    search: 'this.#epoch += 1\n    this.#tell(leader)',
    replace: 'this.#tell(leader)',
    test: WATCH,
    name: 'what is known without a look comes before what is on its way',
  },
  {
    id: 'no-look-without-message',
    mistake: 'A change whose message was lost stays unseen.',
    file: 'src/locks/leader/leader-watch.ts',
    search:
      'if (this.#isWatching) this.#timer = this.#host.clock.after(waitMs, () => this.look()).unref()',
    replace: 'void waitMs',
    test: FAULTS,
    name: 'that hears no message finds out by a look, a third of its lease later at most',
  },
]
