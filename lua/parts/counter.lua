-- Returns how long a counter is kept, in milliseconds: `counterMs`, but at least as long as the lease.
local function counterKeptMs(counterMs, leaseMs)
  return counterMs - leaseMs < 0 and leaseMs or counterMs
end

-- Stores a token in the counter. If `counterMs` is '0', the counter never expires. Without a counter, the next token is
-- the server time. So the counter lives until the lease has ended and the server time is above the token.
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

-- Called when a lease is granted or renewed. Keeps the counter for longer if necessary.
local function keepCounter(counter, counterMs, leaseMs)
  if counterMs == '0' then
    return
  end
  local keptMs = math.max(counterMs, leaseMs)
  local leftMs = redis.call('PTTL', counter)
  -- The script sets the expiry only if less than 90 % of the time, or less than the lease, is left. So most renewals
  -- need no PEXPIRE.
  if leftMs >= 0 and leftMs < math.max(keptMs * 0.9, leaseMs) then
    redis.call('PEXPIRE', counter, string.format('%.0f', keptMs))
  end
end
