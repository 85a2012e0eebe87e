--[[
  Renews the leases of many locks. Never shortens a lease, and never revives an expired lease.

  KEYS[*]  keys       for each lock its two keys: the lock, a hash: owner -> hold count; its counter, a string: the last
                      fencing token issued for this lock
  ARGV[1]  leaseMs    every held lock lives at least this long from now, in milliseconds; 0 only reads the times
  ARGV[2]  counterMs  how long the counters are kept from now, in milliseconds; 0 leaves them as they are
  ARGV[*]  owners     text[]: the owner of each lock, in the order of the keys

  Returns
    leftMs[] >= -2  for each lock the lease time left in milliseconds; -1 means no expiry. The value -2 means that
                    its owner does not hold it, or that Redisson has put a read-write lock into its key
]]
local leaseMs, counterMs = tonumber(ARGV[1]), ARGV[2]

-- include: parts/server-time.lua

-- include: parts/counter.lua

local left = {}
for i = 1, #KEYS / 2 do
  -- If a key has another type, the script ignores the error, so that the other locks keep their leases. The hold of
  -- this lock counts as lost.
  local lock = KEYS[2 * i - 1]
  local found = redis.pcall('HMGET', lock, ARGV[i + 2], 'mode')
  if found[1] and not found[2] then
    left[i] = redis.call('PTTL', lock)
    if left[i] < leaseMs and leaseMs > 0 then
      redis.call('PEXPIRE', lock, leaseMs)
      left[i] = leaseMs
    end
    if leaseMs > 0 then
      keepCounter(KEYS[2 * i], counterMs, leaseMs)
    end
  else
    if found[1] == false then
      -- This HDEL changes nothing, but makes a replica refuse the script. A replica may not have received the hold yet.
      redis.call('HDEL', lock, ARGV[i + 2])
    end
    left[i] = -2
  end
end
return left
