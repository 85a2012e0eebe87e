--[[
  Returns how many permits a semaphore has, which of them are taken, and which clients wait. Changes nothing.

  KEYS[1]  pool      string: how many permits are available
  KEYS[2]  timeouts  zset: id of a permit -> the server time in ms at which its lease ends
  KEYS[3]  queue     zset: client -> the server time in µs at which its wait began
  KEYS[4]  alive     hash: client -> the server time in ms until which its place counts, and the permits it wants
  KEYS[5]  holders   hash: the first 24 hex digits of an id -> the owner of the permit, and when its hold began, in µs
  KEYS[6]  kind      string: the kind of object that the number belongs to: `latch`, `permits` or `semaphore`
  ARGV[1]  most      number: the greatest number of taken permits, and of waiting clients, in the answer

  Returns
    { isSet: 1 or 0, available >= -9007199254740991, taken, nowUs, leftMs: pairs, holders: pairs, waiting: pairs,
      wanted: pairs }          `leftMs` has ids, each in 32 hex digits, and the lease time left, -1 for a permit
                               without a lease. `holders` has the known owners of these ids, and since when each holds
                               its permits, in µs. `waiting` has clients and since when they wait, the next client
                               first. `wanted` has the same clients, and how many permits the first call of each wants
]]
local keys = {
  pool = KEYS[1], timeouts = KEYS[2], queue = KEYS[3], alive = KEYS[4], holders = KEYS[5], kind = KEYS[6],
}
local most = tonumber(ARGV[1])

-- include: parts/server-time.lua

-- include: parts/waiting-clients.lua

-- include: parts/kind.lua

-- include: parts/available.lua

-- include: parts/permits.lua

-- include: parts/permit-holders.lua

local available, isSet = availableIn(keys.pool, keys.kind, 'permits')
if not available then
  return isSet
end
local nowMs = nowInMs()
local expired = redis.call('ZCOUNT', keys.timeouts, '-inf', nowMs)
local taken = redis.call('ZCARD', keys.timeouts) - expired
local leftMs, holders = {}, {}
if most > 0 then
  local found = redis.call(
    'ZRANGEBYSCORE', keys.timeouts, '(' .. nowMs, '+inf', 'WITHSCORES', 'LIMIT', 0, most
  )
  for i = 1, #found, 2 do
    local untilMs = tonumber(found[i + 1])
    leftMs[i] = string.format('%08x%08x%08x%08x', struct.unpack('>I4I4I4I4', found[i]))
    leftMs[i + 1] = string.format('%.0f', untilMs < FOREVER and untilMs - nowMs or -1)
  end
  holders = holdersOf(keys, found)
end
local waiting, wanted = listWaiting(keys, most)
return { isSet and 1 or 0, available + expired, taken, serverTimeText(), leftMs, holders, waiting, wanted }
