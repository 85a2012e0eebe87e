--[[
  Gives back what was taken in an owner's name that nobody uses any more, if anything was.

  Safe to run twice: what was given back is given back once. A request in that name that comes later takes
  nothing, as long as that is remembered. Where nobody else of its client waits its place is free, and whoever
  is next by that is told.

  KEYS[1]  semaphore  string: how many permits are available
  KEYS[2]  queue      zset: client -> since when it waits, server time in µs
  KEYS[3]  alive      hash: client -> until when that counts, and how many permits are wanted
  KEYS[4]  kind       string: which kind has set the number
  KEYS[5]  request    string: what was taken in this owner's name, or 'returned'
  KEYS[*]  answered   the requests of this client whose answers it has
  ARGV[1]  client     its client, where nobody of it waits any more; '' where somebody does
  ARGV[2]  keptMs     how long it is remembered that it was given back, in milliseconds; 0 is not at all
  ARGV[3]  channel    where Redisson's clients are told how many are available
  ARGV[4]  tickets    the channel on which clients are told that it is their turn
  ARGV[5]  publish    PUBLISH or SPUBLISH

  Returns
    1  permits were given back
    0  there was nothing to give back
]]
local keys = { semaphore = KEYS[1], queue = KEYS[2], alive = KEYS[3], kind = KEYS[4], request = KEYS[5] }
local client, keptMs, channel, tickets, publish = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4], ARGV[5]

-- include: parts/server-time.lua

-- include: parts/waiting-clients.lua

-- include: parts/kind.lua

-- include: parts/available.lua

-- include: parts/answered.lua

local available, isSet = availableIn(keys.semaphore, keys.kind, 'semaphore')
if not available then
  return isSet
end
local taken = tonumber(redis.call('GET', keys.request) or nil)
-- First: a full server refuses SET and INCRBY, but not in a script that has written something already.
redis.call('ZREM', keys.queue, '')
forget(unpack(KEYS, 6))
local wasFirst = client ~= '' and firstOf(keys) == client
if client ~= '' then
  waitsNoMore(keys, client)
end
if keptMs > 0 then
  redis.call('SET', keys.request, 'returned', 'PX', keptMs)
elseif taken then
  redis.call('DEL', keys.request)
end
-- One that is gone meanwhile is not made again.
local isBack = taken and isSet
if isBack then
  available = redis.call('INCRBY', keys.semaphore, taken)
  tellOthers(publish, channel, available)
end
if isBack or wasFirst then
  tellNext(keys, publish, tickets, available)
end
return isBack and 1 or 0
