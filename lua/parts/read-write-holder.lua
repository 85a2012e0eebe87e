-- Included after parts/server-time.lua and parts/read-write-leases.lua.

-- Returns a holder other than `exceptOwner`, and for how long this holder has held the lock, in ms. The token of a
-- writer and the lease key of a reader store when the hold began. The age is '' if the value is 1, which Redisson and
-- old clients write. Returns a holder with an expired lease only if no other holder is found. With redis.pcall, an
-- error of these keys does not stop the answer.
local function holderOf(keys, mode, exceptOwner)
  local over = ''
  for _, field in ipairs(redis.call('HRANDFIELD', keys.lock, 4)) do
    if field ~= 'mode' and field ~= exceptOwner then
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
