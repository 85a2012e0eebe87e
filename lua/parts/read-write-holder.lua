-- Included after parts/server-time.lua.

-- One of those who have it, other than that owner, and for how long, in ms: of a writer its token tells, which is the
-- time when it was issued, and of a reader its lease. '' if nothing tells: a lease of Redisson or of an old client is 1.
-- One whose lease is over is named only if no other is found. What is wrong with these keys must not cost anybody the
-- answer.
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
