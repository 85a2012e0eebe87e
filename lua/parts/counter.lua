-- Returns how long a counter is kept, in milliseconds: `counterMs`, but at least as long as the lease.
local function counterKeptMs(counterMs, leaseMs)
  return counterMs - leaseMs < 0 and leaseMs or counterMs
end

-- Stores a token in the counter. A `counterMs` of '0' means forever. The counter must outlive the lease. The counter
-- must also last until the server time is above the token, because without a counter the time gives the next token.
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

-- Called when a lease is renewed or becomes longer: keeps the counter for longer, too.
local function keepCounter(counter, counterMs, leaseMs)
  if counterMs == '0' then
    return
  end
  local keptMs = math.max(counterMs, leaseMs)
  local leftMs = redis.call('PTTL', counter)
  -- To save commands, the expiry is not set at each renewal. It is set if less than 90 % of the time is left, or less
  -- than the lease.
  if leftMs >= 0 and leftMs < math.max(keptMs * 0.9, leaseMs) then
    redis.call('PEXPIRE', counter, string.format('%.0f', keptMs))
  end
end
