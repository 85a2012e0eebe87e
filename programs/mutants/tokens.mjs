/** Mistakes with fencing tokens and their counters. */
const SCRIPTS = 'test/lock/lua/lock-scripts.test.ts'
const STATES = 'test/lock/lua/lock-states.test.ts'
const MASTERS = 'test/quorum/lua/master-scripts.test.ts'

export const tokens = [
  {
    id: 'token-is-the-clock',
    mistake: 'A token is the time of the server, even if the last token was ahead of it.',
    file: 'lua/parts/issue-token.lua',
    search: 'if (tonumber(last) or 0) >= nowUs then',
    replace: 'if not nowUs then',
    test: SCRIPTS,
    name: 'each token is greater than the token before, even when the counter is ahead of the clock',
  },
  {
    id: 'token-without-clock',
    mistake: 'After the counter was lost, tokens start again below the time of the server.',
    file: 'lua/parts/acquire.lua',
    search: 'newToken = nextToken(last, floorUs, reserve)',
    replace: 'newToken = nextToken(last, 0, reserve)',
    test: MASTERS,
    name: 'vote issues the next number of the counter, and uses the clock only if the counter is missing',
  },
  {
    id: 'old-counter-trusted',
    mistake: 'A master with old data continues from its old counter.',
    file: 'lua/parts/acquire.lua',
    search: 'local floorUs = sinceUs and last and tonumber(sinceUs) or nowUs',
    replace: 'local floorUs = sinceUs and last and 0 or nowUs',
    test: MASTERS,
    name: 'vote ignores a counter that is older than the mark, and starts at the time of the mark',
  },
  {
    id: 'reserve-below-last',
    mistake: 'The reserved tokens begin below tokens that were issued before.',
    file: 'lua/parts/issue-token.lua',
    search: 'token = nextToken(last, 0, reserve or 0)',
    replace: 'token = nextToken(last, nowUs + (reserve or 0), 0)',
    test: SCRIPTS,
    name: 'with a reserve of 63 gets 63 new tokens below its own token',
  },
  {
    id: 'hand-over-from-token',
    mistake: 'A hand-over counts from the token of the old hold, and not from the counter.',
    file: 'lua/lock/hand-over.lua',
    search: 'local highest = math.max(last or 0, tonumber(token))',
    replace: 'local highest = tonumber(token)',
    test: MASTERS,
    name: 'a hand-over issues the number after its token or the counter, whichever is greater',
  },
  {
    id: 'counter-ends-before-lease',
    mistake: 'The counter of a long lease expires before the lease.',
    file: 'lua/parts/counter.lua',
    search: 'return counterMs - leaseMs < 0 and leaseMs or counterMs',
    replace: 'return counterMs',
    test: STATES,
    name: 'the counter outlives the lease of the hold, even if it is to be kept for a shorter time',
  },
  {
    id: 'counter-ends-before-clock',
    mistake: 'A counter that is ahead of the clock expires before the clock has passed it.',
    file: 'lua/parts/counter.lua',
    search: 'if aheadMs > 0 then',
    replace: 'if false then',
    test: STATES,
    name: 'that is ahead of the clock stays until the clock has passed it',
  },
  {
    id: 'counter-not-renewed',
    mistake: 'Renewals prolong the lock, but not its counter.',
    file: 'lua/lock/renew.lua',
    search: 'keepCounter(KEYS[2 * i], counterMs, leaseMs)',
    replace: '',
    test: STATES,
    name: 'renewals prolong the counter, and renewals for 0 ms do not',
  },
  {
    id: 'counter-not-re-entered',
    mistake: 'Re-entries prolong the lock for longer than its counter.',
    file: 'lua/parts/acquire.lua',
    search: `      keepCounter(counter, counterMs, leaseMs)
    end
    if reenters then`,
    replace: `      if counterMs - leaseMs < 0 then
        keepCounter(counter, counterMs, leaseMs)
      end
    end
    if reenters then`,
    test: STATES,
    name: 'each re-entry keeps the counter for its whole time, even if the lease is shorter',
  },
  {
    id: 'counter-kept-for-lease',
    mistake:
      'The counter of a lock that was renewed for a long time expires soon after the release.',
    file: 'lua/parts/counter.lua',
    search: 'if leftMs >= 0 and leftMs < math.max(keptMs * 0.9, leaseMs) then',
    replace: 'if leftMs >= 0 and leftMs < leaseMs then',
    test: STATES,
    name: 'the counter is kept for its whole time after the last renewal or re-entry, not only for the lease',
  },
  {
    id: 're-entry-without-token',
    mistake: 'A re-entry does not name its hold, so it acquires a free lock again.',
    file: 'src/servers/redis/redis-lock.ts',
    search: 'const given = { owner, leaseMs, holds, token }',
    replace: 'const given = { owner, leaseMs, reserve: holds && token && 0 }',
    test: 'test/lock/re-entry.test.ts',
    name: 'does not acquire the lock again when the hold is gone',
  },
  {
    id: 're-entry-joins-later-hold',
    mistake: 'A late re-entry joins a later hold of the same name.',
    file: 'lua/parts/acquire.lua',
    search: `  if token and not vote and tonumber(redis.call('GET', counter) or 0) > tonumber(token) then
    return { 'gone' }
  end
`,
    replace: '',
    test: 'test/lock/re-entry.test.ts',
    name: 'does not join a later hold of the same owner name',
  },
]
