/** Mistakes in the scripts that run in Redis. */
const SCRIPTS = 'test/lock/lua/lock-scripts.test.ts'
const STATES = 'test/lock/lua/lock-states.test.ts'

export const scripts = [
  {
    id: 'late-request-runs',
    mistake: 'A request that arrives after its deadline runs.',
    file: 'lua/parts/late.lua',
    search: 'return aheadUs < 0 or mostUs > 0 and aheadUs > mostUs',
    replace: 'return mostUs > 0 and aheadUs > mostUs',
    test: SCRIPTS,
    name: "a first acquisition that comes too late is refused by the server's clock",
  },
  {
    id: 'clock-set-back-not-seen',
    mistake: 'A deadline that is too far ahead, because the clock was set back, counts as valid.',
    file: 'lua/parts/late.lua',
    search: 'return aheadUs < 0 or mostUs > 0 and aheadUs > mostUs',
    replace: 'return aheadUs < 0',
    test: STATES,
    name: 'a server clock that was set back',
  },
  {
    id: 'acquire-adds-one',
    mistake: 'A re-entry adds one to the hold count instead of setting the wanted count.',
    file: 'lua/parts/acquire.lua',
    search: 'local missing = holds - (held or 0)',
    replace: 'local missing = 1',
    test: SCRIPTS,
    name: 'a repeated acquisition gets the same answer and changes nothing',
  },
  {
    id: 'acquire-shortens-lease',
    mistake: 'A re-entry with a shorter lease shortens the lease of the hold.',
    file: 'lua/parts/acquire.lua',
    search: `    if ttlMs - leaseMs < 0 then
      redis.call('PEXPIRE', lock, leaseMs)
      keepCounter(`,
    replace: `    if ttlMs - leaseMs ~= 0 then
      redis.call('PEXPIRE', lock, leaseMs)
      keepCounter(`,
    test: SCRIPTS,
    name: 'a re-entry lengthens the lease if it asks for more, and never shortens it',
  },
  {
    id: 'read-write-lock-entered',
    mistake: 'An acquisition ignores a read-write lock of Redisson with the same name.',
    file: 'lua/parts/acquire.lua',
    search: `  if found[2] then
    return redis.error_reply(READ_WRITE)
  end
`,
    replace: '',
    test: STATES,
    name: 'a read-write lock of Redisson with the same name',
  },
  {
    id: 'release-any-token',
    mistake: 'A release ends a later hold of the same name, because it does not compare tokens.',
    file: 'lua/parts/release.lua',
    search: 'if last and last ~= token and tonumber(last) > tonumber(token) then',
    replace: 'if not last then',
    test: SCRIPTS,
    name: 'that comes late does not end a newer hold of the same owner',
  },
  {
    id: 'lower-refused-when-full',
    mistake: 'A full server refuses to lower a count.',
    file: 'lua/parts/release.lua',
    search: "local lowered = redis.pcall('HINCRBY', lock, owner, holds - held)",
    replace: "local lowered = redis.call('HINCRBY', lock, owner, holds - held)",
    test: SCRIPTS,
    name: 'a nested release works while the server is full, and keeps the lease',
  },
  {
    id: 'late-lower-runs',
    mistake: 'A late request lowers a count that was raised again.',
    file: 'lua/parts/release.lua',
    search: 'if isLate(notAfterUs) then',
    replace: 'if holds == 0 and isLate(notAfterUs) then',
    test: SCRIPTS,
    name: 'a nested release that comes too late lowers nothing, but the last release always works',
  },
  {
    id: 'renew-whoever-holds',
    mistake: 'A renewal lengthens the lease of another holder.',
    file: 'lua/lock/renew.lua',
    search: 'if found[1] and not found[2] then',
    replace: "if redis.pcall('HLEN', lock) == 1 and not found[2] then",
    test: SCRIPTS,
    name: 'a renewal lengthens the lease of each lock that its owner still holds, and no other lease',
  },
  {
    id: 'renew-shortens',
    mistake: 'A renewal shortens a longer lease.',
    file: 'lua/lock/renew.lua',
    search: 'if left[i] < leaseMs and leaseMs > 0 then',
    replace: 'if left[i] >= 0 and leaseMs > 0 then',
    test: SCRIPTS,
    name: 'a renewal lengthens the lease of each lock that its owner still holds, and no other lease',
  },
  {
    id: 'renew-all-fail-with-one',
    mistake: 'Because of one key of another type, no lock is renewed.',
    file: 'lua/lock/renew.lua',
    search: "local found = redis.pcall('HMGET', lock, ARGV[i + 2], 'mode')",
    replace: "local found = redis.call('HMGET', lock, ARGV[i + 2], 'mode')",
    test: SCRIPTS,
    name: 'a renewal counts a key of another type as lost, and renews the other locks',
  },
  {
    id: 'force-ends-next-hold',
    mistake: 'A repeated forceUnlock() ends the next hold of that name too.',
    file: 'lua/lock/force-release.lua',
    search: "if not found[1] or token ~= '' and last > tonumber(token) then",
    replace: 'if not found[1] then',
    test: SCRIPTS,
    name: 'a repeated forced release does not end a later hold, even with the same owner id',
  },
  {
    id: 'hand-over-by-old-token',
    mistake: 'A late hand-over passes on a later hold of the same name.',
    file: 'lua/lock/hand-over.lua',
    search: "if not held[1] or vote ~= '1' and (last or 0) > tonumber(token) then",
    replace: 'if not held[1] then',
    test: SCRIPTS,
    name: 'a hand-over from an owner that holds nothing, or with an old token, does nothing',
  },
  {
    id: 'hand-over-once-only',
    mistake: 'A repeated hand-over reports that it found nothing to hand over.',
    file: 'lua/lock/hand-over.lua',
    search: 'if held[2] and not held[1] then',
    replace: 'if held[2] and held[1] then',
    test: SCRIPTS,
    name: 'a repeated hand-over gets the same answer and changes nothing',
  },
  {
    id: 'hand-over-keeps-deaf',
    mistake: 'A hand-over that should yield keeps the lock although other clients listen.',
    file: 'lua/lock/hand-over.lua',
    search: 'local others = listening and listenersAt(channel, publish) - listening or 0',
    replace: 'local others = 0',
    test: SCRIPTS,
    name: 'a hand-over that may yield releases the lock if other clients listen',
  },
  {
    id: 'all-with-new-token',
    mistake: 'Several locks get a new token although some are held under the old token.',
    file: 'lua/lock/acquire-all.lua',
    search: 'if own > 0 and missing then',
    replace: 'if own > #KEYS and missing then',
    test: 'test/multi/lua/acquire-all.test.ts',
    name: 'was released, and the other holds keep their token',
  },
  {
    id: 'many-stop-at-first',
    mistake:
      'If one call of a batch fails, the whole batch fails, and its calls are sent one by one.',
    file: 'lua/lock/batch.lua',
    search:
      'local done, reply = pcall(run, KEYS[2 * n - 1], KEYS[2 * n], unpack(ARGV, first, last))',
    replace:
      'local done, reply = true, run(KEYS[2 * n - 1], KEYS[2 * n], unpack(ARGV, first, last))',
    test: 'test/servers/lock-batch.test.ts',
    name: 'the calls are sent once, although the key of one lock is of another type',
  },
]
