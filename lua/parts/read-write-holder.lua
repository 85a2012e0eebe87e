-- Included after parts/server-time.lua and parts/read-write-lock.lua.

-- Returns a holder other than the owner `but`, and for how long this holder has held the lock, in ms. The token of a
-- writer and the lease of a reader record when the hold began. The age is '' if this time is not recorded: Redisson and
-- old clients write 1. A holder whose lease has expired is returned only if no other holder is found. With redis.pcall,
-- an error of these keys does not stop the answer.
local function holderOf(keys, mode, but)
  local over = ''
  for _, field in ipairs(redis.call('HRANDFIELD', keys.lock, 4)) do
    if field ~= 'mode' and field ~= but then
      local since = redis.pcall('GET', mode == 'write' and keys.counter or leaseKey(keys, field))
      local sinceUs = tonumber(since)
      if sinceUs and sinceUs > 1 then
        return field, math.max(0, math.floor((serverTimeUs() - sinceUs) / 1000))
      elseif since then
        return field, ''
      end
      over = field
    end
  end
  return over, ''
end
