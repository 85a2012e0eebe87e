--[[
  Creates a semaphore with a number of permits, changes the number of available permits, or deletes the semaphore.

  Safe to run twice: the result is stored under the name of the request, and a repeat gets the same answer.

  KEYS[1]  semaphore   string: how many permits are available
  KEYS[2]  queue       zset: client -> the server time in µs at which its wait began
  KEYS[3]  alive       hash: client -> the server time in ms until which its place counts, and the permits it wants
  KEYS[4]  kind        string: the kind of object that the number belongs to: `latch`, `permits` or `semaphore`
  KEYS[5]  request     string: the result of this request
  KEYS[*]  answered    the keys of requests whose answers this client has received
  ARGV[1]  what        'set' or 'add' or 'drain' or 'delete': set creates a semaphore; add changes how many permits are
                       available; drain takes all available permits; delete deletes the semaphore
  ARGV[2]  permits     number: how many permits; for add it can be below 0
  ARGV[3]  ttlMs       how long a new semaphore lives, in milliseconds; 0 means forever
  ARGV[4]  keptMs      how long the result is stored, in milliseconds
  ARGV[5]  notAfterUs  server time after which nothing is changed, in µs; 0 means no limit
  ARGV[6]  channel     the channel on which Redisson's clients learn how many permits are available
  ARGV[7]  tickets     the channel that wakes the next client
  ARGV[8]  publish     PUBLISH or SPUBLISH

  Returns
    { 'done', result: number >= -9007199254740991 }  For set: 1, or 0 if there was a semaphore. For add: how many
                                                     permits are available then. For drain: how many were taken. For
                                                     delete: 1, or 0 if there was none
    { 'late', serverTimeUs >= 1 }  refused: the server time is after notAfterUs
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
  -- A server with full memory refuses INCRBY and SET as the first write of a script. So this ZREM comes first, and
  -- changes nothing.
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
  -- With DECRBY, the semaphore keeps its expiry.
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
