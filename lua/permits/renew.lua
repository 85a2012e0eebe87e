--[[
  Renews the leases of many permits. Never shortens a lease, and never revives an expired lease.

  KEYS[*]  keys       for each hold its three keys: the timeouts, a zset: id of a permit -> the server time in ms at
                      which its lease ends. The counter, a string: the last fencing token issued for this semaphore. The
                      holders, a hash: the first 24 hex digits of an id -> the owner of the permit, and since when, in
                      µs
  ARGV[1]  leaseMs    every hold lives at least this long from now, in milliseconds; 0 only reads the times
  ARGV[2]  counterMs  how long the counters are kept from now, in milliseconds; 0 leaves them as they are
  ARGV[*]  owners     the owner of each hold, in the order of the keys: `<clientId>:<owner>:<permits>`

  Returns
    leftMs[] >= -2  for each hold the lease time left in milliseconds; -2 means that its owner does not hold all of
                    its permits any more
]]
local leaseMs, counterMs = ARGV[1], ARGV[2]

-- include: parts/server-time.lua

-- include: parts/counter.lua

-- include: parts/permits.lua

-- include: parts/permit-holders.lua

local function renew(keys, owner)
  -- If a key has another type, the script ignores the error, so that the other holds keep their leases. This hold
  -- counts as lost.
  local isRead, taken, untilMs = pcall(takenBy, keys, owner)
  local nowMs = nowInMs()
  if not isRead then
    return -2
  end
  -- This ZREM changes nothing, but makes a replica refuse the script. A replica may not have received the permits yet.
  -- A server with full memory refuses ZADD as the first write of a script, but accepts ZADD after the ZREM.
  redis.call('ZREM', keys.timeouts, '')
  if taken < permitsOf(owner) or untilMs <= nowMs then
    return -2
  end
  if leaseMs == '0' then
    return untilMs - nowMs
  end
  take(keys, owner, nowMs + leaseMs, true)
  keepCounter(keys.counter, counterMs, leaseMs)
  keepHolders(keys.holders, leaseMs)
  return math.max(untilMs - nowMs, tonumber(leaseMs))
end

local left = {}
for i = 1, #KEYS / 3 do
  local keys = { timeouts = KEYS[3 * i - 2], counter = KEYS[3 * i - 1], holders = KEYS[3 * i] }
  left[i] = renew(keys, ARGV[i + 2])
end
return left
