--[[
  Tells what is left of a latch, and in which round, and changes nothing. A replica refuses it, because it may not have
  received the last round yet.

  KEYS[1]  latch    string: what is left to be counted
  KEYS[2]  round    string: when the count was set
  KEYS[3]  kind     string: which kind has set the number
  KEYS[4]  request  the key of a request with an empty id, which never exists

  Returns
    { count, round: number or '' as null, serverTimeUs >= 1 }  count is 0 where the latch is open; round is '' where it
                                                               is not known
]]
local latch, round, kind, request = KEYS[1], KEYS[2], KEYS[3], KEYS[4]

-- include: parts/server-time.lua

-- include: parts/kind.lua

-- include: parts/latch.lua

-- A replica refuses a command that could write.
redis.call('DEL', request)
local count = countOf(latch, kind)
if type(count) == 'table' then
  return count
end
return { math.max(count or 0, 0), redis.call('GET', round) or '', serverTimeText() }
