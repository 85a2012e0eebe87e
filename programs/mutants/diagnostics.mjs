const FACTS = 'test/diagnostics/facts.test.ts'
const RENEWALS = 'test/diagnostics/renewals.test.ts'
const PRESENCE = 'test/servers/presence.test.ts'

/** Mistakes in the facts on diagnostics channels. */
export const diagnostics = [
  {
    id: 'hold-ends-twice',
    mistake: 'A hold that close() ended ends once more when the client finds it gone.',
    file: 'src/channels/published-hold.ts',
    search: '    if (fact.outcome !== undefined) return\n',
    replace: '',
    test: 'test/diagnostics/property.test.ts',
    name: 'each fact has one end and matches the result of its caller, whatever happens (seed',
  },
  {
    id: 'timers-of-a-request',
    mistake: 'Renewals run in the async context of the first user of the client.',
    file: 'src/kit/clock.ts',
    search: 'outsideContexts(() => setInterval(work, ms))',
    replace: 'setInterval(work, ms)',
    test: RENEWALS,
    name: 'timers of the client do not run in the context of the first caller',
  },
  {
    id: 'stall-of-an-outage',
    mistake: 'A loss is reported as a stall of the event loop, although renewals could be sent.',
    file: 'src/lease/watchdog.ts',
    search: 'return stalledMs >= renewMs / 3 ? stalledMs : undefined',
    replace: 'return stalledMs',
    test: RENEWALS,
    name: 'a renewal without an answer ends with an error, and the loss that follows is not reported as a stall',
  },
  {
    id: 'unknown-release-untold',
    mistake: 'The result of a release without a confirmation is not reported when it is known.',
    file: 'src/local/release-request.ts',
    search: '      hold.inDoubtUntil(lock.services.clock.monotonic())\n',
    replace: '',
    test: FACTS,
    name: 'a release without a confirmation is unknown, and is reported when it is settled',
  },
  {
    id: 'start-of-the-closed',
    mistake:
      'A call acquires the lock although a subscriber closed the client when the call started.',
    file: 'src/local/acquire.ts',
    search: '  else if (closed !== undefined) waiter.reject(closed)\n',
    replace: '',
    test: FACTS,
    name: 'a subscriber that closes the client at the start of a call leaves no hold',
  },
  {
    id: 'presence-outlives-client',
    mistake: 'The servers of a RedLock keep the facts of a closed client forever.',
    file: 'src/local/backend.ts',
    search: '    this.#presence.withdraw()\n',
    replace: '',
    test: PRESENCE,
    name: "the facts of a RedLock's client are deleted at all servers when that client closes",
  },
  {
    id: 'lost-notes',
    mistake: 'A note that is lost with its connection is never sent again.',
    file: 'src/servers/redis/presence/redis-presence.ts',
    search: '      this.#notes.giveBack(notes)\n',
    replace: '',
    test: PRESENCE,
    name: 'notes that are lost with the connection are sent by the next connection',
  },
]
