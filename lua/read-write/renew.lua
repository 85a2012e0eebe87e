--[[
  Renews the leases of many holds of read-write locks. Never shortens a lease, and never revives an expired lease.

  KEYS[*]  keys       for each hold its two keys: the lock, a hash: `mode`, and owner -> hold count; its counter, a
                      string: the last fencing token issued for this lock
  ARGV[1]  leaseMs    every hold lives at least this long from now, in milliseconds; 0 only reads the times
  ARGV[2]  counterMs  how long the counters are kept from now, in milliseconds; 0 leaves them as they are
  ARGV[*]  holds      { owner, prefix }[]: the owner of each hold, in the order of the keys, and the prefix of the
                      timeout keys of its lock

  Returns
    leftMs[] >= -2  for each hold the lease time left in milliseconds; -1 means no expiry; -2 means that its owner
                    does not hold it any more
]]
local leaseMs, counterMs = ARGV[1], ARGV[2]

-- include: parts/server-time.lua

-- include: parts/counter.lua

-- include: parts/read-write-lock.lua

-- include: parts/read-write-leases.lua

-- include: parts/read-write-queues.lua

-- include: parts/read-write-turns.lua

local function renew(keys, owner)
  -- If a key has another type, the script ignores the error, so that the other holds keep their leases. This hold
  -- counts as lost.
  local found = redis.pcall('HMGET', keys.lock, 'mode', owner)
  if not found[1] or not found[2] then
    if found[2] == false then
      -- This HDEL changes nothing, but makes a replica refuse the script. A replica may not have received the hold yet.
      redis.call('HDEL', keys.lock, owner)
    end
    return -2
  end
  local ttlMs = isWriter(owner) and redis.call('PTTL', keys.lock)
    or readerTtlMs(keys, owner, found[2])
  if ttlMs == -2 or leaseMs == '0' then
    return ttlMs
  end
  if ttlMs ~= -1 and ttlMs - leaseMs < 0 then
    if not isWriter(owner) then
      lengthen(keys, owner, leaseMs)
    end
    prolong(keys, leaseMs)
    ttlMs = tonumber(leaseMs)
  end
  keepCounter(keys.counter, counterMs, leaseMs)
  return ttlMs
end

local left = {}
for i = 1, #KEYS / 2 do
  local keys = { lock = KEYS[2 * i - 1], counter = KEYS[2 * i], prefix = ARGV[2 * i + 2] }
  left[i] = renew(keys, ARGV[2 * i + 1])
end
return left
