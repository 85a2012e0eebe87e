--[[
  Sets how many permits a semaphore has where there is none, or changes how many are available.

  Safe to run twice: what came of it is remembered under the name of the request, and told again.

  KEYS[1]  semaphore   string: how many permits are available
  KEYS[2]  queue       zset: client -> since when it waits, server time in µs
  KEYS[3]  alive       hash: client -> until when that counts, and how many permits are wanted
  KEYS[4]  request     string: what came of this request, when it was carried out
  KEYS[*]  answered    the requests of this client whose answers it has
  ARGV[1]  what        'set' or 'add' or 'drain': a new semaphore; more or fewer are available; all are taken
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
                                   then; of 'drain' how many were taken
    { 'late', serverTimeUs >= 1 }  refused: it is later than notAfterUs
]]
local keys = { semaphore = KEYS[1], queue = KEYS[2], alive = KEYS[3], request = KEYS[4] }
local what, permits, ttlMs, keptMs = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local notAfterUs, channel, tickets, publish = tonumber(ARGV[5]), ARGV[6], ARGV[7], ARGV[8]

-- include: parts/server-time.lua

-- include: parts/late.lua

-- include: parts/waiting-clients.lua

-- include: parts/available.lua

-- include: parts/answered.lua

local available = availableIn(keys.semaphore)
if not available then
  return redis.error_reply(NO_SEMAPHORE)
end
local result = tonumber(redis.call('GET', keys.request) or nil)
forget(unpack(KEYS, 5))
if result then
  redis.call('PEXPIRE', keys.request, keptMs)
  return { 'done', result }
elseif isLate(notAfterUs) then
  return { 'late', serverTimeText() }
end

local more = 0
if what == 'set' then
  result = redis.call('EXISTS', keys.semaphore) == 0 and 1 or 0
  if result == 1 then
    more = permits
    redis.call('SET', keys.semaphore, permits)
    if ttlMs > 0 then
      redis.call('PEXPIRE', keys.semaphore, ttlMs)
    end
  end
elseif what == 'add' then
  more = permits
  result = redis.call('INCRBY', keys.semaphore, permits)
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
end
return { 'done', result }
