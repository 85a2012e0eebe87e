const ONE = 'test/deployment/release.test.ts'
const PLACES = 'test/deployment/release-places.test.ts'
const LOCK = 'lua/admin/take-lock.lua'
const FORCE = 'src/extras/deployment/force-release.ts'

/** Of taking a lock by force from outside. */
export const release = [
  {
    id: 'release-whoever-has-it',
    mistake: 'A lock is taken from the same owner also under a newer token.',
    file: LOCK,
    search: 'if not found[1] or isNewer then',
    replace: 'if not found[1] then',
    test: ONE,
    name: 'who has it by then keeps it',
  },
  {
    id: 'release-any-owner',
    mistake: 'A lock is taken from whoever has it by then.',
    file: LOCK,
    search: 'if not found[1] or isNewer then',
    replace: "if redis.call('EXISTS', keys.lock) == 0 then",
    test: ONE,
    name: 'one whose lease has ended meanwhile',
  },
  {
    id: 'release-without-fence',
    mistake: 'The counter is not raised when a lock is taken by force.',
    file: LOCK,
    search: "redis.call('DEL', keys.lock)\nraiseTo(keys.counter, fence, terms.counterMs)",
    replace: "redis.call('DEL', keys.lock)",
    test: PLACES,
    name: 'the counter of each master is raised',
  },
  {
    id: 'release-readers-at-fence',
    mistake: 'Whoever reads after a writer that was taken off has its token.',
    file: 'lua/admin/take-read-write.lua',
    search: "string.format('%.0f', fence + 1)",
    replace: 'fence',
    test: ONE,
    name: 'who writes is taken off',
  },
  {
    id: 'release-tells-nobody',
    mistake: 'Who waits is not told that a lock was taken by force.',
    file: LOCK,
    search: "  redis.call(publish, channel, '0')\nend\nreturn",
    replace: 'end\nreturn',
    test: ONE,
    name: 'who waits is woken',
  },
  {
    id: 'release-past-the-queue',
    mistake: 'A lock that is taken by force is not given to the first in its queue.',
    file: LOCK,
    search: "if not grantNext(keys, fence, nowUs, terms, '', false) then",
    replace: 'if true then',
    test: ONE,
    name: 'the first in the queue has the lock in that step',
  },
  {
    id: 'release-given-back',
    mistake: 'Masters give a lock back to the one whom it was taken from by force.',
    file: FORCE,
    search: 'forcedMs: masters.isQuorum ?',
    replace: 'forcedMs: masters.isQuorum && facts.length === 0 ?',
    test: PLACES,
    name: 'of masters all are asked',
  },
  {
    id: 'release-by-a-minority',
    mistake: 'A lock is told to be released when a minority of masters has confirmed it.',
    file: FORCE,
    search: 'if (answers.length > count / 2) return answers',
    replace: 'if (answers.length > 0) return answers',
    test: PLACES,
    name: 'one of three masters may be down',
  },
]
