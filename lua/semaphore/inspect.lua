--[[
  Returns how many permits a semaphore has, and which clients wait for them. Changes nothing.

  KEYS[1]  semaphore  string: how many permits are available
  KEYS[2]  queue      zset: client -> the server time in µs at which its wait began
  KEYS[3]  alive      hash: client -> the server time in ms until which its place counts, and the permits it wants
  KEYS[4]  kind       string: the kind of object that the number belongs to: `latch`, `permits` or `semaphore`
  ARGV[1]  most       number: the greatest number of waiting clients in the answer

  Returns
    { isSet: 1 or 0, available: number >= -9007199254740991, nowUs, waiting: pairs, wanted: pairs }  `waiting` has
                             clients and since when they wait, the next client first. `wanted` has the same clients,
                             and how many permits the first call of each wants
]]
local keys = { semaphore = KEYS[1], queue = KEYS[2], alive = KEYS[3], kind = KEYS[4] }
local most = tonumber(ARGV[1])

-- include: parts/server-time.lua

-- include: parts/waiting-clients.lua

-- include: parts/kind.lua

-- include: parts/available.lua

local available, isSet = availableIn(keys.semaphore, keys.kind, 'semaphore')
if not available then
  return isSet
end
local waiting, wanted = listWaiting(keys, most)
return { isSet and 1 or 0, available, serverTimeText(), waiting, wanted }
