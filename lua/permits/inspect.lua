--[[
  Tells how many permits a semaphore has, which are taken, and who waits; and changes nothing.

  KEYS[1]  pool      string: how many permits are available
  KEYS[2]  timeouts  zset: id of a permit -> until when it is taken, server time in ms
  KEYS[3]  queue     zset: client -> since when somebody of it waits
  KEYS[4]  alive     hash: client -> until when that counts, and how many permits are wanted
  ARGV[1]  most      number: how many of those that are taken, and of those who wait, are wanted

  Returns
    { isSet: 1 or 0, available >= -9007199254740991, taken, nowUs, leftMs: pairs, waiting: pairs,
      wanted: pairs }          leftMs is of the ids, each in 32 hex digits, what is left of their leases, -1 for
                               one without; waiting is of clients since when they wait, the next one first;
                               wanted is of the same clients how many permits the first of each wants
]]
local keys = { pool = KEYS[1], timeouts = KEYS[2], queue = KEYS[3], alive = KEYS[4] }
local most = tonumber(ARGV[1])

-- include: parts/server-time.lua

-- include: parts/waiting-clients.lua

-- include: parts/available.lua

-- include: parts/permits.lua

local available, isSet = availableIn(keys.pool)
if not available then
  return redis.error_reply(NO_SEMAPHORE)
end
local nowMs = nowInMs()
local expired = redis.call('ZCOUNT', keys.timeouts, '-inf', nowMs)
local taken = redis.call('ZCARD', keys.timeouts) - expired
local leftMs = {}
if most > 0 then
  local found = redis.call(
    'ZRANGEBYSCORE', keys.timeouts, '(' .. nowMs, '+inf', 'WITHSCORES', 'LIMIT', 0, most
  )
  for i = 1, #found, 2 do
    local untilMs = tonumber(found[i + 1])
    leftMs[i] = string.gsub(found[i], '.', function(byte)
      return string.format('%02x', string.byte(byte))
    end)
    leftMs[i + 1] = string.format('%.0f', untilMs < FOREVER and untilMs - nowMs or -1)
  end
end
local waiting, wanted = listWaiting(keys, most)
return { isSet and 1 or 0, available + expired, taken, serverTimeText(), leftMs, waiting, wanted }
