--[[
  Sets how many permits a semaphore has where there is none, changes how many are available, or deletes the semaphore.

  Safe to run twice: what came of it is remembered under the name of the request, and told again.

  KEYS[1]  semaphore   string: how many permits are available
  KEYS[2]  queue       zset: client -> since when it waits, server time in µs
  KEYS[3]  alive       hash: client -> until when that counts, and how many permits are wanted
  KEYS[4]  kind        string: which kind has set the number
  KEYS[5]  request     string: what came of this request, when it was carried out
  KEYS[*]  answered    the requests of this client whose answers it has
  ARGV[1]  what        'set' or 'add' or 'drain' or 'delete': a new semaphore; more or fewer are available; all are
                       taken; it is deleted
  ARGV[2]  permits     number: how many, also fewer than none to add
  ARGV[3]  ttlMs       how long a new semaphore lives, in milliseconds; 0 is for good
  ARGV[4]  keptMs      how long the request is remembered, in milliseconds
  ARGV[5]  notAfterUs  server time after which nothing is changed, in µs; 0 is never
  ARGV[6]  channel     where Redisson's clients are told how many are available
  ARGV[7]  tickets     the channel on which clients are told that it is their turn
  ARGV[8]  publish     PUBLISH or SPUBLISH

  Returns
    { 'done', result: number >= -9007199254740991 }
                                   of 'set' 1 where there was none, else 0; of 'add' how many are available
                                   then; of 'drain' how many were taken; of 'delete' 1 where there was one, else 0
    { 'late', serverTimeUs >= 1 }  refused: it is later than notAfterUs
]]
local keys = { semaphore = KEYS[1], queue = KEYS[2], alive = KEYS[3], kind = KEYS[4], request = KEYS[5] }
local what, permits, ttlMs, keptMs = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local notAfterUs, channel, tickets, publish = tonumber(ARGV[5]), ARGV[6], ARGV[7], ARGV[8]

-- include: parts/server-time.lua

-- include: parts/late.lua

-- include: parts/waiting-clients.lua

-- include: parts/kind.lua

-- include: parts/available.lua

-- include: parts/answered.lua

local available, isSet = availableIn(keys.semaphore, keys.kind, 'semaphore')
if not available then
  return isSet
end
local result = tonumber(redis.call('GET', keys.request) or nil)
forget(unpack(KEYS, 6))
if result then
  redis.call('PEXPIRE', keys.request, keptMs)
  return { 'done', result }
elseif isLate(notAfterUs) then
  return { 'late', serverTimeText() }
end

if isSet then
  -- First: a full server refuses INCRBY and SET, but not in a script that has written something already.
  redis.call('ZREM', keys.queue, '')
end
local more = 0
if what == 'set' then
  result = isSet and 0 or 1
  if isSet then
    keepKind(keys.kind)
  else
    more = permits
    redis.call('SET', keys.semaphore, permits)
    if ttlMs > 0 then
      redis.call('PEXPIRE', keys.semaphore, ttlMs)
    end
    noteKind(keys.kind, 'semaphore')
  end
elseif what == 'add' then
  more = permits
  result = redis.call('INCRBY', keys.semaphore, permits)
  noteKind(keys.kind, 'semaphore')
elseif what == 'delete' then
  result = redis.call('UNLINK', keys.semaphore)
  redis.call('UNLINK', keys.kind)
else
  result = math.max(available, 0)
  -- A semaphore that has an expiry keeps it.
  if result > 0 then
    redis.call('DECRBY', keys.semaphore, result)
  end
end
redis.call('SET', keys.request, result, 'PX', keptMs)
if more > 0 then
  tellOthers(publish, channel, available + more)
  tellNext(keys, publish, tickets, available + more)
elseif what == 'delete' and firstOf(keys) then
  redis.call(publish, tickets, (firstOf(keys)))
end
return { 'done', result }
