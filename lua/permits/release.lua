--[[
  Gives back the permits that an owner has, and tells whoever is next.

  Safe to run twice: what the owner has no more is not given back. Permits whose time ran out are available by
  that alone.

  KEYS[1]  pool      string: how many permits are available
  KEYS[2]  timeouts  zset: id of a permit -> until when it is taken, server time in ms
  KEYS[3]  queue     zset: client -> since when somebody of it waits
  KEYS[4]  alive     hash: client -> until when that counts, and how many permits are wanted
  KEYS[5]  holders   hash: 24 hex digits, which ids share -> their owner, and since when, in µs
  KEYS[6]  kind      string: which kind has set the number
  ARGV[1]  owner     `<clientId>:<owner>:<permits>`; '' where only the client leaves
  ARGV[2]  channel   where Redisson's clients are told how many are available
  ARGV[3]  publish   PUBLISH or SPUBLISH
  ARGV[4]  tickets   where the client that is next is told so
  ARGV[5]  client    the client, where nobody of it waits any more; '' where that is not known

  Returns
    { 'freed' }  they were the owner's until now
    { 'gone' }   the owner had not all of them: those that it had are given back
]]
local keys = {
  pool = KEYS[1], timeouts = KEYS[2], queue = KEYS[3], alive = KEYS[4], holders = KEYS[5], kind = KEYS[6],
}
local owner, channel, publish, tickets, client = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

-- include: parts/server-time.lua

-- include: parts/waiting-clients.lua

-- include: parts/kind.lua

-- include: parts/available.lua

-- include: parts/permits.lua

local available, refusal = availableIn(keys.pool, keys.kind, 'permits')
if not available then
  return refusal
end
local expired = giveBackExpired(keys)
local freed = 0
if owner ~= '' then
  eachOf(owner, function(ids)
    freed = freed + redis.call('ZREM', keys.timeouts, unpack(ids))
  end)
  local _, head = headOf(owner)
  redis.pcall('HDEL', keys.holders, head)
end
available = available + expired
if freed > 0 then
  available = redis.call('INCRBY', keys.pool, freed)
end
if client ~= '' then
  waitsNoMore(keys, client)
end
if expired + freed > 0 then
  tellOthers(publish, channel, available)
end
tellNext(keys, publish, tickets, available)
return { owner ~= '' and freed == permitsOf(owner) and 'freed' or 'gone' }
