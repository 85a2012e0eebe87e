--[[
  Takes permits of a semaphore for a time: as many as the name of the owner ends with, all or none.

  Safe to run twice: who has them already has them on, under a token of its own. Whoever waits is served by how
  long it has waited, and nobody overtakes: also not who wants fewer, nor who does not wait.

  KEYS[1]   pool        string: how many permits are available
  KEYS[2]   timeouts    zset: id of a permit -> until when it is taken, server time in ms
  KEYS[3]   counter     string: the last fencing token issued for this semaphore
  KEYS[4]   queue       zset: client -> since when somebody of it waits
  KEYS[5]   alive       hash: client -> until when that counts, and how many permits are wanted
  KEYS[6]   holders     hash: 24 hex digits, which ids share -> their owner, and since when, in µs
  KEYS[7]   kind        string: which kind has set the number
  ARGV[1]   owner       `<clientId>:<owner>:<permits>`
  ARGV[2]   leaseMs     they are taken for so long from now, in milliseconds
  ARGV[3]   notAfterUs  server time after which nothing is taken, in µs; 0 is never
  ARGV[4]   counterMs   how long the counter is kept from now, in milliseconds; 0 is for good
  ARGV[5]   channel     where Redisson's clients are told how many are available
  ARGV[6]   publish     PUBLISH or SPUBLISH
  ARGV[7]   tickets     where the client that is next is told so
  ARGV[8]   client      its client, where it waits; '' where it does not
  ARGV[9]   last        1 or '': whether nobody else of its client waits
  ARGV[10]  waitedMs    for how long it has waited, in milliseconds
  ARGV[11]  since       since when it waits, as it was told; '' where it was not. One ahead of now is none
  ARGV[12]  aliveMs     how long it counts as waiting, in milliseconds
  ARGV[13]  limit?      number: how many permits there are to be in all, which is set where nobody has set it

  Returns
    { 'granted', token >= 1, inAll = 0 }
                               they are the owner's. inAll is the number of permits where it is not the limit
    { 'held', ttlMs >= -1, since: digits or '', isSet: 1 or 0, available >= -9007199254740991, taken, nowUs,
      holders: pairs }         not now; look again after ttlMs, where -1 is no time that is known. The client
                               waits since then, '' where it does not. holders is some of the owners, and since
                               when each has its permits, in µs, for a client that waits
    { 'too-many', available >= -9007199254740991, taken }
                               there are not so many in all
    { 'late', serverTimeUs >= 1 }  refused: it is later than notAfterUs
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

-- A client that waits is told who has so many of the permits.
local TOLD = 4

local available, isSet = availableIn(keys.pool, keys.kind, 'permits')
if not available then
  return isSet
end
if not isSet then
  -- It changes nothing. A replica refuses it, because it may not have received the number yet.
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

-- To be called at the end: others are told of what there is for them.
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
    if client ~= '' then
      wentOn(keys, client, isLast, aliveMs)
    end
    tell(not isLast and client)
    return { 'too-many', available, taken }
  end
  if not isNext(keys, client, sinceUs) or permits > available then
    if client ~= '' then
      waits(keys, client, sinceUs, permits, aliveMs)
    end
    local first, _, _, untilMs = firstOf(keys)
    local found = redis.call('ZRANGE', keys.timeouts, 0, client == '' and 0 or TOLD - 1, 'WITHSCORES')
    local endMs = tonumber(found[2] or FOREVER)
    -- Who is not next looks again when the one that is may be dead.
    if first and first ~= client then
      endMs = untilMs + 1
    end
    -- It may not have heard of it.
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
  -- A semaphore that was set for a time ends with all that is taken of it.
  local ttlMs = redis.call('PTTL', keys.pool)
  if ttlMs > 0 then
    redis.call('PEXPIRE', keys.timeouts, ttlMs)
  end
end
if client ~= '' then
  wentOn(keys, client, isLast, aliveMs)
end
tell(not isLast and client)
if limit and inAll ~= limit then
  return { 'granted', token, inAll }
end
return { 'granted', token }
