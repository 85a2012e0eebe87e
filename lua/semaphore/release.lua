--[[
  Adds permits to a semaphore, whichever owner took them, and wakes the next client.

  Safe to run twice: the result is stored under the name of the request, and a repeat gets the same answer.

  KEYS[1]  semaphore   string: how many permits are available
  KEYS[2]  queue       zset: client -> the server time in µs at which its wait began
  KEYS[3]  alive       hash: client -> the server time in ms until which its place counts, and the permits it wants
  KEYS[4]  kind        string: the kind of object that the number belongs to: `latch`, `permits` or `semaphore`
  KEYS[5]  request     string: 1 if this request has added the permits, 0 if there was no such semaphore
  KEYS[*]  answered    the keys of requests whose answers this client has received
  ARGV[1]  permits     number: how many are added
  ARGV[2]  ifExists    1 or '': 1 if the request must not create the semaphore
  ARGV[3]  keptMs      how long the result is stored, in milliseconds
  ARGV[4]  notAfterUs  server time after which nothing is added, in µs; 0 means no limit
  ARGV[5]  channel     the channel on which Redisson's clients learn how many permits are available
  ARGV[6]  tickets     the channel that wakes the next client
  ARGV[7]  publish     PUBLISH or SPUBLISH

  Returns
    { 'added' }                    this request, or its earlier run, has added the permits
    { 'none' }                     there is no such semaphore
    { 'late', serverTimeUs >= 1 }  refused: the server time is after notAfterUs
]]
local keys = { semaphore = KEYS[1], queue = KEYS[2], alive = KEYS[3], kind = KEYS[4], request = KEYS[5] }
local permits, ifExists, keptMs, notAfterUs = ARGV[1], ARGV[2] == '1', ARGV[3], tonumber(ARGV[4])
local channel, tickets, publish = ARGV[5], ARGV[6], ARGV[7]

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
local done = redis.call('GET', keys.request)
-- A server with full memory refuses INCRBY as the first write of a script. So this ZREM comes first, and changes
-- nothing.
redis.call('ZREM', keys.queue, '')
forget(unpack(KEYS, 6))
if done then
  redis.call('PEXPIRE', keys.request, keptMs)
  return { done == '0' and 'none' or 'added' }
elseif isLate(notAfterUs) then
  return { 'late', serverTimeText() }
elseif ifExists and not isSet then
  redis.call('SET', keys.request, '0', 'PX', keptMs)
  return { 'none' }
end
available = redis.call('INCRBY', keys.semaphore, permits)
if not isSet then
  noteKind(keys.kind, 'semaphore')
end
redis.call('SET', keys.request, '1', 'PX', keptMs)
tellOthers(publish, channel, available)
tellNext(keys, publish, tickets, available)
return { 'added' }
