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
  ARGV[13]  limit?      number: the total number of permits, which is set if no client has set it

  Returns
    { 'granted', token >= 1, inAll: number >= -9007199254740991 or '' as null }  the owner holds its permits. `inAll` is
                             the total number of permits if a limit is given and differs from it; otherwise ''
    { 'held', ttlMs >= -1, since: digits or '', isSet: 1 or 0, available >= -9007199254740991, taken, nowUs,
      holders: pairs }         not now; ask again after ttlMs; -1 means that no time is known. `since` is when
                               the client began to wait, '' if it does not wait. For a client that waits, `holders`
                               has some of the owners, and since when each holds its permits, in µs
    { 'too-many', available >= -9007199254740991, taken }  the owner wants more permits than there are in total
    { 'late', serverTimeUs >= 1 }  refused: the server time is after notAfterUs
]]
local keys = {
  pool = KEYS[1], timeouts = KEYS[2], counter = KEYS[3], queue = KEYS[4], alive = KEYS[5], holders = KEYS[6],
  kind = KEYS[7],
}
local owner, leaseMs, notAfterUs, counterMs = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local channel, publish, tickets = ARGV[5], ARGV[6], ARGV[7]
local client, isLast, waitedMs, since, aliveMs =
  ARGV[8], ARGV[9] == '1', tonumber(ARGV[10]), ARGV[11], tonumber(ARGV[12])
local limit = tonumber(ARGV[13])

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

-- If the client of the call waits, the answer `held` lists the owners of at most this many permits.
local TOLD = 4

local available, isSet = availableIn(keys.pool, keys.kind, 'permits')
if not available then
  return isSet
end
if not isSet then
  -- This ZREM changes nothing, but makes a replica refuse the script. A replica may not have received the number yet.
  redis.call('ZREM', keys.timeouts, '')
end
local lastToken = redis.call('GET', keys.counter)
if isLate(notAfterUs) then
  return { 'late', serverTimeText() }
end
local permits, sinceUs = permitsOf(owner), sinceOf(since, waitedMs)
local expired = giveBackExpired(keys)
available = available + expired
local isMore = expired > 0

-- Informs Redisson's clients if more permits are available than before. Wakes the next client if enough permits are
-- available for it. Never wakes the client `but`.
local function tell(but)
  if isMore then
    tellOthers(publish, channel, available)
  end
  tellNext(keys, publish, tickets, available, but)
end

local taken = redis.call('ZCARD', keys.timeouts)
if limit and not isSet then
  available, isSet, isMore = limit - taken, true, true
  redis.call('SET', keys.pool, available)
  noteKind(keys.kind, 'permits')
end
local isRepeat = taken > 0 and takenBy(keys, owner) > 0
if not isRepeat then
  if isSet and available + taken > 0 and permits > available + taken then
    local refusal = refusalOfReplica(keys.alive)
    if refusal then
      return refusal
    end
    if client ~= '' then
      wentOn(keys, client, isLast, aliveMs)
    end
    tell(not isLast and client)
    return { 'too-many', available, taken }
  end
  if not isNext(keys, client, sinceUs) or permits > available then
    local refusal = client == '' and refusalOfReplica(keys.alive)
    if refusal then
      return refusal
    end
    if client ~= '' then
      waits(keys, client, sinceUs, permits, aliveMs)
    end
    local first, _, _, untilMs = firstOf(keys)
    local found = redis.call('ZRANGE', keys.timeouts, 0, client == '' and 0 or TOLD - 1, 'WITHSCORES')
    local endMs = tonumber(found[2] or FOREVER)
    -- A client that is not next asks again when the place of the next client ends, because the next client may be gone.
    if first and first ~= client then
      endMs = untilMs + 1
    end
    -- The next client may have missed its message, so it is woken again.
    tell(client)
    local ttlMs = endMs < FOREVER and math.max(endMs - nowInMs(), 0) or -1
    local since, holders = '', {}
    if client ~= '' then
      since, holders = string.format('%.0f', sinceUs), holdersOf(keys, found)
    end
    return { 'held', ttlMs, since, isSet and 1 or 0, available, taken, serverTimeText(), holders }
  end
end

local inAll = available + taken
local token = nextToken(lastToken, serverTimeUs(), 0)
setCounter(keys.counter, token, counterMs, leaseMs)
take(keys, owner, nowInMs() + leaseMs, isRepeat)
if not isRepeat then
  available = redis.call('DECRBY', keys.pool, permits)
  addHolder(keys, owner, leaseMs, taken + permits)
  keepKind(keys.kind)
  -- If the semaphore has an expiry, its taken permits get the same expiry.
  local ttlMs = redis.call('PTTL', keys.pool)
  if ttlMs > 0 then
    redis.call('PEXPIRE', keys.timeouts, ttlMs)
  end
end
if client ~= '' then
  wentOn(keys, client, isLast, aliveMs)
end
tell(not isLast and client)
return { 'granted', token, limit and inAll ~= limit and inAll or '' }
