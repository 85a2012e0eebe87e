--[[
  Sets how many permits a semaphore has, changes that, takes away those that are available, or deletes the semaphore
  with all permits that are taken.

  Safe to run twice: what it did is remembered under the name of the request for as long as that could be sent
  again.

  KEYS[1]  pool        string: how many permits are available
  KEYS[2]  timeouts    zset: id of a permit -> until when it is taken, server time in ms
  KEYS[3]  queue       zset: client -> since when somebody of it waits
  KEYS[4]  alive       hash: client -> until when that counts, and how many permits are wanted
  KEYS[5]  request     string with an expiry: what this request has done
  KEYS[6]  holders     hash: 24 hex digits, which ids share -> their owner, and since when, in µs
  KEYS[7]  kind        string: which kind has set the number
  ARGV[1]  how         'try-set' or 'set' or 'add' or 'drain' or 'delete': sets how many there are in all, where nobody
                       has; sets it anyway; adds so many, or takes away; takes away what is available; deletes it
  ARGV[2]  permits     number: how many
  ARGV[3]  notAfterUs  server time after which nothing is changed, in µs; 0 is never
  ARGV[4]  channel     where Redisson's clients are told how many are available
  ARGV[5]  publish     PUBLISH or SPUBLISH
  ARGV[6]  tickets     where the client that is next is told so
  ARGV[7]  keptMs      how long the request is remembered, in milliseconds

  Returns
    { 'done', permits }  drain: how many it has taken away; else 1, or 0 where try-set or delete has changed nothing
    { 'late', serverTimeUs >= 1 }  refused: it is later than notAfterUs
]]
local keys = {
  pool = KEYS[1], timeouts = KEYS[2], queue = KEYS[3], alive = KEYS[4], request = KEYS[5], holders = KEYS[6],
  kind = KEYS[7],
}
local how, permits, notAfterUs = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local channel, publish, tickets, keptMs = ARGV[4], ARGV[5], ARGV[6], ARGV[7]

-- include: parts/server-time.lua

-- include: parts/late.lua

-- include: parts/waiting-clients.lua

-- include: parts/kind.lua

-- include: parts/available.lua

-- include: parts/permits.lua

local done = redis.call('GET', keys.request)
if done then
  return { 'done', done }
end
if isLate(notAfterUs) then
  return { 'late', serverTimeText() }
end
local available, isSet = availableIn(keys.pool, keys.kind, 'permits')
if not available then
  return isSet
end
if how == 'try-set' and isSet then
  keepKind(keys.kind)
  redis.call('SET', keys.request, 0, 'PX', keptMs)
  return { 'done', 0 }
elseif how == 'delete' then
  local deleted = redis.call('UNLINK', keys.pool, keys.timeouts)
  redis.call('UNLINK', keys.holders, keys.kind)
  redis.call('SET', keys.request, math.min(deleted, 1), 'PX', keptMs)
  -- The client that is next asks again, and may set the number again.
  local first = firstOf(keys)
  if first then
    redis.call(publish, tickets, first)
  end
  return { 'done', math.min(deleted, 1) }
end
if isSet then
  -- First: a full server refuses INCRBY, but not in a script that has written something already.
  redis.call('ZREM', keys.queue, '')
end
local expired = giveBackExpired(keys)
available = available + expired
local taken = redis.call('ZCARD', keys.timeouts)

local by, result = permits - available - taken, 1
if how == 'add' then
  by = permits
elseif how == 'drain' then
  result = math.max(available, 0)
  by = 0 - result
end
-- Also by 0, where nobody has set it; but what is not there has nothing to be taken away.
if isSet or expired > 0 or how ~= 'drain' then
  available = redis.call('INCRBY', keys.pool, string.format('%.0f', by))
end
if how ~= 'drain' then
  noteKind(keys.kind, 'permits')
end
redis.call('SET', keys.request, result, 'PX', keptMs)

if by > 0 or expired > 0 then
  tellOthers(publish, channel, available)
end
local first, _, wanted = firstOf(keys)
-- Also who wants more than there are now: it is told so when it asks.
if first and (wanted <= available or wanted > available + taken) then
  redis.call(publish, tickets, first)
end
return { 'done', result }
