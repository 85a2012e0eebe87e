--[[
  Takes one permit from its holder, makes the permit available, and wakes the next client.

  Safe to run twice: each permit id belongs to one acquisition only.

  KEYS[1]  pool      string: how many permits are available
  KEYS[2]  timeouts  zset: id of a permit -> the server time in ms at which its lease ends
  KEYS[3]  queue     zset: client -> the server time in µs at which its wait began
  KEYS[4]  alive     hash: client -> the server time in ms until which its place counts, and the permits it wants
  KEYS[5]  holders   hash: the first 24 hex digits of an id -> the owner of the permit, and when its hold began, in µs
  KEYS[6]  kind      string: the kind of object that the number belongs to: `latch`, `permits` or `semaphore`
  ARGV[1]  id        the id in 32 hex digits
  ARGV[2]  channel   the channel on which Redisson's clients learn how many permits are available
  ARGV[3]  publish   PUBLISH or SPUBLISH
  ARGV[4]  tickets   the channel that wakes the next client

  Returns
    { 'taken' }  the permit is available again
    { 'free' }   the permit was not taken
]]
local keys = {
  pool = KEYS[1], timeouts = KEYS[2], queue = KEYS[3], alive = KEYS[4], holders = KEYS[5], kind = KEYS[6],
}
local channel, publish, tickets = ARGV[2], ARGV[3], ARGV[4]

-- include: parts/server-time.lua

-- include: parts/waiting-clients.lua

-- include: parts/kind.lua

-- include: parts/available.lua

-- include: parts/permits.lua

-- include: parts/permit-holders.lua

local available, refusal = availableIn(keys.pool, keys.kind, 'permits')
if not available then
  return refusal
end
local expired = giveBackExpired(keys)
local freed = redis.call('ZREM', keys.timeouts, bytesOf(ARGV[1]))
dropUnlessTaken(keys, string.sub(ARGV[1], 1, 24))
available = available + expired
if freed > 0 then
  available = redis.call('INCRBY', keys.pool, freed)
end
if expired + freed > 0 then
  tellOthers(publish, channel, available)
  tellNext(keys, publish, tickets, available)
end
return { freed == 1 and 'taken' or 'free' }
