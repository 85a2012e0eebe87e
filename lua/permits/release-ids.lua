--[[
  Ends permits by their ids, for any holder, makes the permits available, and wakes the next client.

  Safe to run twice: no id is given to two acquisitions, and the result of the request is stored under its name.

  KEYS[1]  pool      string: how many permits are available
  KEYS[2]  timeouts  zset: id of a permit -> the server time in ms at which its lease ends
  KEYS[3]  queue     zset: client -> the server time in µs at which its wait began
  KEYS[4]  alive     hash: client -> the server time in ms until which its place counts, and the permits it wants
  KEYS[5]  request   string with an expiry: the result of this request
  KEYS[6]  holders   hash: the first 24 hex digits of an id -> the owner of the permit, and when its hold began, in µs
  KEYS[7]  kind      string: the kind of object that the number belongs to: `latch`, `permits` or `semaphore`
  ARGV[1]  channel   the channel on which Redisson's clients learn how many permits are available
  ARGV[2]  publish   PUBLISH or SPUBLISH
  ARGV[3]  tickets   the channel that wakes the next client
  ARGV[4]  keptMs    how long the result is stored, in milliseconds
  ARGV[*]  ids       the ids, each different, in 32 hex digits

  Returns
    1  all of these permits were taken until now
    0  some of these permits were not taken
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
