--[[
  Releases the permits that an owner holds, and acquires permits for a waiter of the same client, if this client is next.
  So a client needs one request to hand permits over from one of its calls to another.

  Safe to run twice: a permit that the owner does not hold any more is not released. A waiter that holds its permits
  keeps them, with a new token. The waiter does not overtake another client. If another client is next, the script
  releases the permits and wakes that client. The new permits have new ids.

  KEYS[1]   pool        string: how many permits are available
  KEYS[2]   timeouts    zset: id of a permit -> the server time in ms at which its lease ends
  KEYS[3]   counter     string: the last fencing token issued for this semaphore
  KEYS[4]   queue       zset: client -> the server time in µs at which its wait began
  KEYS[5]   alive       hash: client -> the server time in ms until which its place counts, and the permits it wants
  KEYS[6]   holders     hash: the first 24 hex digits of an id -> the owner of the permit, and when its hold began, in
                        µs
  KEYS[7]   kind        string: the kind of object that the number belongs to: `latch`, `permits` or `semaphore`
  ARGV[1]   from        `<clientId>:<owner>:<permits>` of the owner that releases its permits
  ARGV[2]   owner       `<clientId>:<owner>:<permits>` of the waiter
  ARGV[3]   leaseMs     the waiter's permits are taken for this long from now, in milliseconds
  ARGV[4]   notAfterUs  server time after which nothing is released or taken, in µs; 0 means no limit
  ARGV[5]   counterMs   how long the counter is kept from now, in milliseconds; 0 means forever
  ARGV[6]   channel     the channel on which Redisson's clients learn how many permits are available
  ARGV[7]   publish     PUBLISH or SPUBLISH
  ARGV[8]   tickets     the channel that wakes the next client
  ARGV[9]   client      the client of the waiter
  ARGV[10]  last        1 or '': 1 if no other call of the client waits
  ARGV[11]  waitedMs    how long the call has waited, in milliseconds
  ARGV[12]  since       when the wait began, from an earlier answer; '' without an earlier answer. A time ahead of now
                        does not count
  ARGV[13]  aliveMs     how long the place counts, in milliseconds
  ARGV[14]  behindPermits=0   how many permits the next waiting call of the client wants; 0 if no other call waits
  ARGV[15]  behindWaitedMs=0  how long this next call has waited, in milliseconds
  ARGV[16]  limit?      number: the total number of permits, for the field `inAll` of the answer

  Returns
    { 'granted', wasTaken: 1 or 0, token >= 1, inAll: number >= -9007199254740991 or '' as null }  the waiter holds its
                             permits. `wasTaken` is 1 if the owner `from` held all its permits until now. `inAll` is as
                             permits/acquire.lua returns it
    { 'granted-and-waits', wasTaken: 1 or 0, token >= 1, inAll: number >= -9007199254740991 or '' as null, ttlMs >= -1,
      since: digits, isFirst: 1 or 0, available >= -9007199254740991, taken, nowUs, holders: pairs }  as
                             permits/acquire.lua returns it
    { 'held', wasTaken: 1 or 0, ttlMs >= -1, since: digits or '', isSet: 1 or 0, available >= -9007199254740991, taken,
      nowUs, holders: pairs }  as permits/acquire.lua returns it
    { 'too-many', wasTaken: 1 or 0, available >= -9007199254740991, taken }  the waiter wants more permits than there are
                             in total
    { 'late', serverTimeUs >= 1 }  refused: the server time is after notAfterUs
]]
local keys = {
  pool = KEYS[1], timeouts = KEYS[2], counter = KEYS[3], queue = KEYS[4], alive = KEYS[5], holders = KEYS[6],
  kind = KEYS[7],
}
local from, notAfterUs, channel, publish, tickets = ARGV[1], tonumber(ARGV[4]), ARGV[6], ARGV[7], ARGV[8]
local call = {
  owner = ARGV[2], leaseMs = ARGV[3], counterMs = ARGV[5], client = ARGV[9], isLast = ARGV[10] == '1',
  waitedMs = tonumber(ARGV[11]), since = ARGV[12], aliveMs = tonumber(ARGV[13]),
  behindPermits = tonumber(ARGV[14] or 0), behindWaitedMs = tonumber(ARGV[15] or 0), limit = tonumber(ARGV[16]),
}

-- include: parts/server-time.lua

-- include: parts/late.lua

-- include: parts/counter.lua

-- include: parts/token.lua

-- include: parts/waiting-clients.lua

-- include: parts/kind.lua

-- include: parts/available.lua

-- include: parts/permits.lua

-- include: parts/permit-holders.lua

-- include: parts/replica.lua

-- include: parts/release-leased-permits.lua

-- include: parts/acquire-leased-permits.lua

local before, isSet = availableIn(keys.pool, keys.kind, 'permits')
if not before then
  return isSet
end
local lastToken = redis.call('GET', keys.counter)
if isLate(notAfterUs) then
  return { 'late', serverTimeText() }
end
local available, wasTaken = releaseLeased(keys, from, before)
local taken = redis.call('ZCARD', keys.timeouts)
local answer, left, exceptClient = acquireLeased(keys, call, lastToken, available, taken, isSet or available ~= before)
if not left then
  return answer
end
-- Redisson's clients are informed only if more permits are available than before.
if left > before then
  tellOthers(publish, channel, left)
end
tellNext(keys, publish, tickets, left, exceptClient)
table.insert(answer, 2, wasTaken and 1 or 0)
return answer
