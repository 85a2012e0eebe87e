const ONE = 'test/deployment/deployment-release.test.ts'
const PLACES = 'test/deployment/release-places.test.ts'
const LOCK = 'lua/admin/take-lock.lua'
const FORCE = 'tools/inspection/redis/force-release.ts'

/** Mistakes with a forced release by a tool. */
export const release = [
  {
    id: 'release-whoever-has-it',
    mistake: 'A forced release ends the hold of the same owner under a newer token.',
    file: LOCK,
    search: 'if not found[1] or isNewer then',
    replace: 'if not found[1] then',
    test: ONE,
    name: 'a new holder keeps the lock, even if the same owner holds it under a newer token',
  },
  {
    id: 'release-any-owner',
    mistake: 'A forced release ends the hold of any later owner.',
    file: LOCK,
    search: 'if not found[1] or isNewer then',
    replace: "if redis.call('EXISTS', keys.lock) == 0 then",
    test: ONE,
    name: 'a release of a lock that is free reports "free", and a repeated release changes nothing',
  },
  {
    id: 'release-without-fence',
    mistake: 'A forced release does not raise the counter.',
    file: LOCK,
    search: "redis.call('DEL', keys.lock)\nraiseTo(keys.counter, fence, terms.counterMs)",
    replace: "redis.call('DEL', keys.lock)",
    test: PLACES,
    name: 'a release raises the counter of each master, even of a master without the lock',
  },
  {
    id: 'release-readers-at-fence',
    mistake: 'A reader after a forced release gets the token of the old writer.',
    file: 'lua/admin/take-read-write.lua',
    search: "string.format('%.0f', fence + 1)",
    replace: 'fence',
    test: ONE,
    name: 'a release ends the hold of a writer, and the next reader has a token above the fence',
  },
  {
    id: 'release-tells-nobody',
    mistake: 'A forced release sends no message to waiters.',
    file: LOCK,
    search: "  redis.call(publish, channel, '0')\nend\nreturn",
    replace: 'end\nreturn',
    test: ONE,
    name: 'a release wakes a waiter, and a late release of the old holder does not end the next hold',
  },
  {
    id: 'release-past-the-queue',
    mistake: 'A forced release does not grant the lock to the first in its queue.',
    file: LOCK,
    search: "if not grantNext(keys, fence, terms, '') then",
    replace: 'if true then',
    test: ONE,
    name: 'a release grants the lock to the first waiter of the queue without a request of that waiter',
  },
  {
    id: 'release-given-back',
    mistake: 'Masters give a lock back to the owner that lost it by force.',
    file: FORCE,
    search: 'forcedMs: masters.isQuorum ?',
    replace: 'forcedMs: masters.isQuorum && facts.length === 0 ?',
    test: PLACES,
    name: 'a release at several masters marks all masters, and the next holder has a token above the fence',
  },
  {
    id: 'release-by-a-minority',
    mistake: 'A lock is reported as released after a minority of masters has confirmed.',
    file: FORCE,
    search: 'if (answers.length > count / 2) return answers',
    replace: 'if (answers.length > 0) return answers',
    test: PLACES,
    name: 'a release needs two of three masters, and the old holder does not regain the lock',
  },
]
