--[[
  Gives back the permits that were taken in the name of an owner, if any, because no caller uses these permits.

  Safe to run twice: permits are given back once. A later request in the name of this owner takes nothing, as long as
  'returned' is stored. If no other call of the client waits, the place of the client ends. If permits were given back,
  or if this client was first, the script wakes the next client.

  KEYS[1]  semaphore  string: how many permits are available
  KEYS[2]  queue      zset: client -> the server time in µs at which its wait began
  KEYS[3]  alive      hash: client -> the server time in ms until which its place counts, and the permits it wants
  KEYS[4]  kind       string: the kind of object that the number belongs to: `latch`, `permits` or `semaphore`
  KEYS[5]  request    string: the number of permits taken in this owner's name, or 'returned'
  KEYS[*]  answered   the keys of requests whose answers this client has received
  ARGV[1]  client     the client if none of its calls waits any more; '' if a call still waits
  ARGV[2]  keptMs     how long 'returned' is stored, in milliseconds; 0 means not at all
  ARGV[3]  channel    the channel on which Redisson's clients learn how many permits are available
  ARGV[4]  tickets    the channel that wakes the next client
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
-- A server with full memory refuses SET and INCRBY as the first write of a script. So this ZREM comes first, and
-- changes nothing.
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
-- If the semaphore was deleted, this script must not create the semaphore again.
local isBack = taken and isSet
if isBack then
  available = redis.call('INCRBY', keys.semaphore, taken)
  tellOthers(publish, channel, available)
end
if isBack or wasFirst then
  tellNext(keys, publish, tickets, available)
end
return isBack and 1 or 0
