/** Mistakes with connections, and with servers that fail over or say strange things. */
const DEMOTED = 'test/faults/demoted.test.ts'

export const connection = [
  {
    id: 'demoted-not-left',
    mistake: 'A client stays with a server that is a replica by now.',
    file: 'src/redis/failure.ts',
    search:
      "const OF_SERVER = new Set(['MASTERDOWN', 'NOAUTH', 'NOREPLICAS', 'READONLY', 'UNBLOCKED'])",
    replace: "const OF_SERVER = new Set(['MASTERDOWN', 'NOAUTH', 'NOREPLICAS', 'UNBLOCKED'])",
    test: DEMOTED,
    name: 'is acquired from the one that took over, by the same call',
  },
  {
    id: 'messages-of-the-old-server',
    mistake: 'Who waits listens at the old server when commands go to the one that took over.',
    file: 'src/redis/lock-node.ts',
    search: '        this.#wakeUps.follow(facts.runId)\n',
    replace: '',
    test: DEMOTED,
    name: 'wakes those who wait by messages of the one that took over',
  },
  {
    id: 'failover-is-final',
    mistake: 'A server that is being failed over refuses for good.',
    file: 'src/redis/failure.ts',
    search: "  'READONLY',\n",
    replace: '',
    test: 'test/locks/hostile-servers.test.ts',
    name: 'as a replica is waited for, and used once it is a master',
  },
  {
    id: 'old-words-not-read',
    mistake: 'The code of an error is not found where Redis 6.2 puts it.',
    file: 'src/redis/failure.ts',
    search: '/@user_script: \\d+: -([A-Z]+) /.exec(message) ?? /^(\\S*)/.exec(message)',
    replace: '/^(\\S*)/.exec(message)',
    test: 'test/faults/old-words.test.ts',
    name: 'passes by itself as elsewhere',
  },
  {
    id: 'database-zero',
    mistake: 'Where SELECT was refused locks live in database 0.',
    file: 'src/redis/greeting.ts',
    search: 'database === 0 || isCluster(client) ? undefined : select(client as Redis, database)',
    replace: 'database >= 0 || isCluster(client) ? undefined : select(client as Redis, database)',
    test: 'test/faults/database.test.ts',
    name: 'is never mistaken for database 0, and the error names the right that is missing',
  },
  {
    id: 'greeting-is-unknown',
    mistake: 'A greeting without an answer counts as a release that may have been done.',
    file: 'src/redis/failure.ts',
    search:
      "return failure.kind === 'unknown' ? new CallFailure('unsent', failure.message, failure) : failure",
    replace:
      "return failure.kind === 'closed' ? new CallFailure('unsent', failure.message, failure) : failure",
    test: 'test/faults/release-not-done.test.ts',
    name: 'that did nothing is no release: they',
  },
  {
    id: 'answer-read-too-late',
    mistake: 'After a blocked event loop an answer that is there already counts as missing.',
    file: 'src/redis/due-calls.ts',
    search: 'const timer = setTimeout(setImmediate, timeoutMs, giveUp)',
    replace: 'const timer = setTimeout(giveUp, timeoutMs)',
    test: 'test/faults/in-flight.test.ts',
    name: 'an answer that came while the event loop was blocked counts, although its time is up',
  },
  {
    id: 'program-kept-alive',
    mistake: 'An idle connection keeps a program alive that is done.',
    file: 'src/redis/sockets.ts',
    search: "  inner.on('connect', () => inner.stream?.unref?.())\n",
    replace: '',
    test: 'test/children/programs.test.ts',
    name: 'and then the lock ends with its lease',
    build: true,
  },
  {
    id: 'clock-never-corrected',
    mistake:
      'A client goes by the time that a server told when it connected, although its clock was set.',
    file: 'src/redis/server-clock.ts',
    search: 'if (!isKnown) this.set(offsetMs, wayMs)',
    replace: 'if (isKnown) this.set(offsetMs, wayMs)',
    test: 'test/faults/set-clock.test.ts',
    name: 'what is asked is told once more, and goes on as before',
  },
]
