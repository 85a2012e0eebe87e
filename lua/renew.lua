--[[
  Renews the leases of many locks at once. Never shortens one, never revives one.

  KEYS[*]  locks    hashes: owner -> hold count
  ARGV[1]  leaseMs  every lock still held lives at least this long from now, in milliseconds;
                    0 only looks
  ARGV[*]  owners   the owner of each lock, in the order of the keys

  Returns
    one integer for each lock: what is left of its lease in milliseconds, -1 when it has no
    expiry, -2 when its owner does not hold it any more, or a read-write lock of Redisson, which
    looks at no other lock, is in it as well
]]
local leaseMs = tonumber(ARGV[1])

local left = {}
for i = 1, #KEYS do
  -- One key of another type must not cost the others their lease: pcall, and it counts as lost.
  local found = redis.pcall('HMGET', KEYS[i], ARGV[i + 1], 'mode')
  if found[1] and not found[2] then
    left[i] = redis.call('PTTL', KEYS[i])
    if left[i] < leaseMs and leaseMs > 0 then
      redis.call('PEXPIRE', KEYS[i], leaseMs)
      left[i] = leaseMs
    end
  else
    left[i] = -2
  end
end
return left
