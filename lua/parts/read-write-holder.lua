-- Included after parts/server-time.lua.

-- One of those who have it, other than that owner, and for how long, in ms: of a writer its token tells, which is the time when it was issued,
-- and of a reader its lease. '' if nothing tells: Redisson's and old leases have the value 1. What is wrong with these
-- keys must not cost anybody the answer.
local function holderOf(keys, mode, but)
  for _, field in ipairs(redis.call('HRANDFIELD', keys.lock, 3)) do
    if field ~= 'mode' and field ~= but then
      local key = mode == 'write' and keys.counter or leaseKey(keys, field)
      local sinceUs = tonumber(redis.pcall('GET', key))
      local ageMs = sinceUs and sinceUs > 1 and math.floor((serverTimeUs() - sinceUs) / 1000)
      return field, ageMs and math.max(0, ageMs) or ''
    end
  end
  return '', ''
end
