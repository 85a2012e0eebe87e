--[[
  Acquires permits with leases for an owner, all of them or none. The number at the end of the name of the owner says
  how many.

  Safe to run twice: an owner that holds its permits keeps them, and gets a new token. Clients get permits in the order
  in which they began to wait. No call overtakes a waiting client, even if the call wants fewer permits or does not
  wait.

  KEYS[1]   pool        string: how many permits are available
  KEYS[2]   timeouts    zset: id of a permit -> the server time in ms at which its lease ends
  KEYS[3]   counter     string: the last fencing token issued for this semaphore
  KEYS[4]   queue       zset: client -> the server time in µs at which its wait began
  KEYS[5]   alive       hash: client -> the server time in ms until which its place counts, and the permits it wants
  KEYS[6]   holders     hash: the first 24 hex digits of an id -> the owner of the permit, and when its hold began, in
                        µs
  KEYS[7]   kind        string: the kind of object that the number belongs to: `latch`, `permits` or `semaphore`
  ARGV[1]   owner       `<clientId>:<owner>:<permits>`
  ARGV[2]   leaseMs     the permits are taken for this long from now, in milliseconds
  ARGV[3]   notAfterUs  server time after which nothing is taken, in µs; 0 means no limit
  ARGV[4]   counterMs   how long the counter is kept from now, in milliseconds; 0 means forever
  ARGV[5]   channel     the channel on which Redisson's clients learn how many permits are available
  ARGV[6]   publish     PUBLISH or SPUBLISH
  ARGV[7]   tickets     the channel that wakes the next client
  ARGV[8]   client      the client of the owner if the call waits; '' if it does not wait
  ARGV[9]   last        1 or '': 1 if no other call of the client waits
  ARGV[10]  waitedMs    how long the call has waited, in milliseconds
  ARGV[11]  since       when the wait began, from an earlier answer; '' without an earlier answer. A time ahead of now
                        does not count
  ARGV[12]  aliveMs     how long the place counts, in milliseconds
  ARGV[13]  behindPermits=0   how many permits the next waiting call of the client wants; 0 if no other call waits
  ARGV[14]  behindWaitedMs=0  how long this next call has waited, in milliseconds
  ARGV[15]  limit?      number: the total number of permits, which is set if no client has set it

  Returns
    { 'granted', token >= 1, inAll: number >= -9007199254740991 or '' as null }  the owner holds its permits. `inAll` is
                             the total number of permits if a limit is given and differs from it; otherwise ''
    { 'granted-and-waits', token >= 1, inAll: number >= -9007199254740991 or '' as null, ttlMs >= -1, since: digits,
      isFirst: 1 or 0, available >= -9007199254740991, taken, nowUs, holders: pairs }  the owner holds its permits, and
                             the next call of the client now has the place of the client. This call asks again
                             after ttlMs, or when it is woken. `isFirst` is 1 if no other client is before this client
    { 'held', ttlMs >= -1, since: digits or '', isSet: 1 or 0, available >= -9007199254740991, taken, nowUs,
      holders: pairs }         the owner cannot have the permits now. A call that waits asks again after ttlMs; -1 means
                               no known time. `since` is when the client began to wait, '' if it does not
                               wait. For a client that waits, `holders` has some of the owners, and since when each
                               holds its permits, in µs
    { 'too-many', available >= -9007199254740991, taken }  the owner wants more permits than there are in total
    { 'late', serverTimeUs >= 1 }  refused: the server time is after notAfterUs
]]
local keys = {
  pool = KEYS[1], timeouts = KEYS[2], counter = KEYS[3], queue = KEYS[4], alive = KEYS[5], holders = KEYS[6],
  kind = KEYS[7],
}
local notAfterUs, channel, publish, tickets = tonumber(ARGV[3]), ARGV[5], ARGV[6], ARGV[7]
local call = {
  owner = ARGV[1], leaseMs = ARGV[2], counterMs = ARGV[4], client = ARGV[8], isLast = ARGV[9] == '1',
  waitedMs = tonumber(ARGV[10]), since = ARGV[11], aliveMs = tonumber(ARGV[12]),
  behindPermits = tonumber(ARGV[13] or 0), behindWaitedMs = tonumber(ARGV[14] or 0), limit = tonumber(ARGV[15]),
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

-- include: parts/acquire-leased-permits.lua

local available, isSet = availableIn(keys.pool, keys.kind, 'permits')
if not available then
  return isSet
end
local lastToken = redis.call('GET', keys.counter)
if isLate(notAfterUs) then
  return { 'late', serverTimeText() }
end
local expired = giveBackExpired(keys)
available = available + expired
local becameAvailable, taken = expired > 0, redis.call('ZCARD', keys.timeouts)
if call.limit and not isSet then
  available, isSet, becameAvailable = call.limit - taken, true, true
  redis.call('SET', keys.pool, available)
  noteKind(keys.kind, 'permits')
end
local answer, left, exceptClient = acquireLeased(keys, call, lastToken, available, taken, isSet)
if not left then
  return answer
end
if becameAvailable then
  tellOthers(publish, channel, left)
end
-- The next client may have missed its message, so it is woken again.
tellNext(keys, publish, tickets, left, exceptClient)
return answer
