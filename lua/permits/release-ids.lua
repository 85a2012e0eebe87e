--[[
  Takes permits from whoever has them, by their ids, makes them available, and tells the client that is next.

  Safe to run twice: no id is given to two acquisitions, and what a request came to is remembered under its name.

  KEYS[1]  pool      string: how many permits are available
  KEYS[2]  timeouts  zset: id of a permit -> until when it is taken, server time in ms
  KEYS[3]  queue     zset: client -> since when somebody of it waits
  KEYS[4]  alive     hash: client -> until when that counts, and how many permits are wanted
  KEYS[5]  request   string with an expiry: what this request came to
  KEYS[6]  holders   hash: 24 hex digits, which ids share -> their owner, and since when, in µs
  KEYS[7]  kind      string: which kind has set the number
  ARGV[1]  channel   where Redisson's clients are told how many are available
  ARGV[2]  publish   PUBLISH or SPUBLISH
  ARGV[3]  tickets   where the client that is next is told so
  ARGV[4]  keptMs    how long the request is remembered, in milliseconds
  ARGV[*]  ids       the ids, each different, in 32 hex digits

  Returns
    1  all of them were taken until now
    0  some were not
]]
local keys = {
  pool = KEYS[1], timeouts = KEYS[2], queue = KEYS[3], alive = KEYS[4], request = KEYS[5], holders = KEYS[6],
  kind = KEYS[7],
}
local channel, publish, tickets, keptMs = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

-- include: parts/server-time.lua

-- include: parts/waiting-clients.lua

-- include: parts/kind.lua

-- include: parts/available.lua

-- include: parts/permits.lua

-- include: parts/permit-holders.lua

local done = redis.call('GET', keys.request)
if done then
  return tonumber(done)
end
local available, refusal = availableIn(keys.pool, keys.kind, 'permits')
if not available then
  return refusal
end
local expired = giveBackExpired(keys)
local freed, touched = 0, {}
for from = 5, #ARGV, AT_ONCE do
  local ids = {}
  for i = from, math.min(from + AT_ONCE - 1, #ARGV) do
    ids[#ids + 1] = bytesOf(ARGV[i])
    touched[string.sub(ARGV[i], 1, 24)] = true
  end
  freed = freed + redis.call('ZREM', keys.timeouts, unpack(ids))
end
for head in pairs(touched) do
  dropUnlessTaken(keys, head)
end
available = available + expired
if freed > 0 then
  available = redis.call('INCRBY', keys.pool, freed)
end
local result = freed == #ARGV - 4 and 1 or 0
redis.call('SET', keys.request, result, 'PX', keptMs)
if expired + freed > 0 then
  tellOthers(publish, channel, available)
  tellNext(keys, publish, tickets, available)
end
return result
