--[[
  Renews the leases of many permits at once. Never shortens one, never revives one.

  KEYS[*]  three      of each hold, one after the other: the timeouts, a zset: id of a permit -> until when it is
                      taken; the counter, a string: the last fencing token issued for this semaphore; the holders, a
                      hash: 24 hex digits, which ids share -> their owner, and since when, in µs
  ARGV[1]  leaseMs    every hold lives at least this long from now, in milliseconds; 0 only looks
  ARGV[2]  counterMs  how long the counters are kept from now, in milliseconds; 0 leaves them as they are
  ARGV[*]  owners     the owner of each hold, in the order of the keys: `<clientId>:<owner>:<permits>`

  Returns
    leftMs[] >= -2  of each hold, what is left of its lease in milliseconds, -2 when its owner has not all of its
                    permits any more
]]
local leaseMs, counterMs = ARGV[1], ARGV[2]

-- include: parts/server-time.lua

-- include: parts/counter.lua

-- include: parts/permits.lua

-- include: parts/permit-holders.lua

local function renew(keys, owner)
  -- One key of another type must not cost the others their lease: pcall, and it counts as lost.
  local isRead, taken, untilMs = pcall(takenBy, keys, owner)
  local nowMs = nowInMs()
  if not isRead then
    return -2
  end
  -- It changes nothing. A replica refuses it, because it may not have received the permits yet. And a full server
  -- refuses ZADD, but not in a script that has written something already.
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
