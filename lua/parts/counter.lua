-- How long a counter is kept: for no less than the lease.
local function counterKeptMs(counterMs, leaseMs)
  return counterMs - leaseMs < 0 and leaseMs or counterMs
end

-- Writes a token down; `counterMs` of '0' is for good. It is kept for no less than the lease, and until the
-- server's time has passed it: when it is gone the time takes its place.
local function setCounter(counter, token, counterMs, leaseMs)
  if counterMs == '0' then
    redis.call('SET', counter, token)
  else
    local keptMs = counterKeptMs(counterMs, leaseMs)
    local aheadMs = math.ceil((token - serverTimeUs()) / 1000)
    if aheadMs > 0 then
      keptMs = string.format('%.0f', keptMs + aheadMs)
    end
    redis.call('SET', counter, token, 'PX', keptMs)
  end
end

-- Keeps it on with a lease that goes on.
local function keepCounter(counter, counterMs, leaseMs)
  if counterMs == '0' then
    return
  end
  local keptMs = math.max(counterMs, leaseMs)
  local leftMs = redis.call('PTTL', counter)
  -- Not at every renewal, but before it would end sooner than the lease.
  if leftMs >= 0 and leftMs < math.max(keptMs * 0.9, leaseMs) then
    redis.call('PEXPIRE', counter, string.format('%.0f', keptMs))
  end
end
