--[[
  Gives back a grant whose time has not come, because its call was aborted. Calls that wait at this moment keep their
  times. Only calls that come later can use the permits.

  Safe to run twice: the second run finds no grant.

  KEYS[1]  log    list: the grants that still count
  KEYS[2]  state  hash: the sum of the grants, and the last times
  ARGV[1]  id     the id of the call
  ARGV[2]  atUs   number: the time of the grant
  ARGV[3]  cost   number: the permits of the grant

  Returns
    1  the permits are given back
    0  the time of the grant has come, or there is no such grant
]]
local log, state, id, atUs, cost = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3]

-- include: parts/server-time.lua

-- include: parts/rate.lua

local rate = readRate(state)
local entry = atUs .. ' ' .. cost .. ' ' .. id
local index = redis.call('LPOS', log, entry, 'RANK', -1)
if not index or tonumber(atUs) <= rate.nowUs then
  return 0
end
redis.call('LREM', log, -1, entry)
local used, skipped = rate.used, rate.skipped
if index < skipped then
  skipped = skipped - 1
else
  used = used - cost
end
local last = redis.call('LINDEX', log, -1)
local fromUs = math.max(last and readGrant(last) or 0, rate.nowUs)
-- Entries that were skipped only for this grant count again. The other skipped entries are over when the next grant can
-- begin.
local floorUs = rate.goneUs
while skipped > 0 do
  local grantedUs, granted = readGrant(redis.call('LINDEX', log, skipped - 1))
  if grantedUs + rate.keptMs * 1000 <= fromUs then
    floorUs = grantedUs + rate.keptMs * 1000
    break
  end
  skipped, used = skipped - 1, used + granted
end
redis.call('HSET', state, 'used', used, 'skipped', skipped, 'floorUs', digits(floorUs), 'lastUs',
  digits(math.max(last and readGrant(last) or 0, floorUs)))
return 1
