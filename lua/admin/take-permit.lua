--[[
  Takes one permit from whoever has it, puts it back, and tells whoever is next.

  Safe to run twice: an id is given to one acquisition only.

  KEYS[1]  pool      string: how many permits are available
  KEYS[2]  timeouts  zset: id of a permit -> until when it is taken, server time in ms
  KEYS[3]  queue     zset: client -> since when somebody of it waits
  KEYS[4]  alive     hash: client -> until when that counts, and how many permits are wanted
  KEYS[5]  holders   hash: 24 hex digits, which ids share -> their owner, and since when, in µs
  KEYS[6]  kind      string: which kind has set the number
  ARGV[1]  id        the id in 32 hex digits
  ARGV[2]  channel   where Redisson's clients are told how many are available
  ARGV[3]  publish   PUBLISH or SPUBLISH
  ARGV[4]  tickets   where the client that is next is told so

  Returns
    { 'taken' }  it is available again
    { 'free' }   it was not taken any more
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
