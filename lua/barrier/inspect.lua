--[[
  Returns how many arrivals the current round of a barrier has and needs, and the round. Changes nothing.

  KEYS[1]  barrier  zset: id of an arrival -> the server time in ms at which its lease ends
  KEYS[2]  state    hash: the server time in µs at which the round began, and its number of parties

  Returns
    { arrived, parties: number or '' as null, round: number or '' as null }  without an arrival, the last two are ''
]]
local barrier, state = KEYS[1], KEYS[2]

-- include: parts/server-time.lua

-- include: parts/barrier.lua

local arrived = redis.call('ZCOUNT', barrier, expiry(nowMs()), '+inf')
if arrived == 0 then
  return { 0, '', '' }
end
local round, parties = unpack(redis.call('HMGET', state, 'round', 'parties'))
return { arrived, parties or '', round or '' }
