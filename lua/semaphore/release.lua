--[[
  Adds permits to a semaphore, whoever had taken them, and tells who is next.

  Safe to run twice: what came of it is remembered under the name of the request, and told again.

  KEYS[1]  semaphore   string: how many permits are available
  KEYS[2]  queue       zset: client -> since when it waits, server time in µs
  KEYS[3]  alive       hash: client -> until when that counts, and how many permits are wanted
  KEYS[4]  kind        string: which kind has set the number
  KEYS[5]  request     string: 1 when this request has added them, 0 when there was no such semaphore
  KEYS[*]  answered    the requests of this client whose answers it has
  ARGV[1]  permits     number: how many are added
  ARGV[2]  ifExists    1 or '': whether nothing is done where there is no semaphore
  ARGV[3]  keptMs      how long the request is remembered, in milliseconds
  ARGV[4]  notAfterUs  server time after which nothing is added, in µs; 0 is never
  ARGV[5]  channel     where Redisson's clients are told how many are available
  ARGV[6]  tickets     the channel on which clients are told that it is their turn
  ARGV[7]  publish     PUBLISH or SPUBLISH

  Returns
    { 'added' }                    they are available, or were
    { 'none' }                     there is no such semaphore
    { 'late', serverTimeUs >= 1 }  refused: it is later than notAfterUs
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
-- First: a full server refuses INCRBY, but not in a script that has written something already.
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
