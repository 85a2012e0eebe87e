--[[
  Returns the count of a latch and its round. Changes nothing. A replica refuses the script, because a replica may not
  have received the current round yet.

  KEYS[1]  latch    string: the remaining count
  KEYS[2]  round    string: the server time in µs at which the count was set
  KEYS[3]  kind     string: the kind of object that the number belongs to: `latch`, `permits` or `semaphore`
  KEYS[4]  request  the key of a request with an empty id, which never exists

  Returns
    { count, round: number or '' as null, serverTimeUs >= 1 }  count is 0 if the latch is open; round is '' if the
                             round is unknown
]]
local latch, round, kind, request = KEYS[1], KEYS[2], KEYS[3], KEYS[4]

-- include: parts/server-time.lua

-- include: parts/kind.lua

-- include: parts/latch.lua

-- This DEL deletes nothing, but makes a replica refuse the script.
redis.call('DEL', request)
local count = countOf(latch, kind)
if type(count) == 'table' then
  return count
end
return { math.max(count or 0, 0), redis.call('GET', round) or '', serverTimeText() }
