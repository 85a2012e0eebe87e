--[[
  Returns the count of a latch and its round. Changes nothing. A replica refuses the script, because a replica may not
  have received the current round yet.

  KEYS[1]  latch    string: the count that is left
  KEYS[2]  round    string: when the count was set, server time in µs
  KEYS[3]  kind     string: which kind of object the number belongs to
  KEYS[4]  request  the key of a request with an empty id, which never exists

  Returns
    { count, round: number or '' as null, serverTimeUs >= 1 }  count is 0 if the latch is open; round is '' if it is
                             unknown
]]
local latch, round, kind, request = KEYS[1], KEYS[2], KEYS[3], KEYS[4]

-- include: parts/server-time.lua

-- include: parts/kind.lua

-- include: parts/latch.lua

-- A replica refuses this command, because DEL is a write command.
redis.call('DEL', request)
local count = countOf(latch, kind)
if type(count) == 'table' then
  return count
end
return { math.max(count or 0, 0), redis.call('GET', round) or '', serverTimeText() }
