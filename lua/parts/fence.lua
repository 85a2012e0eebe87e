-- Included after parts/counter.lua. Returns the last token, or the floor if the floor is higher.
local function lastOf(counter, floor)
  return string.format('%.0f', math.max(tonumber(redis.call('GET', counter) or 0), floor))
end

-- Raises the counter, so that no token up to `token` is issued again. Never shortens the time for which the counter is
-- kept.
local function raiseTo(counter, token, counterMs)
  if tonumber(redis.call('GET', counter) or 0) < tonumber(token) then
    local leftMs = redis.call('PTTL', counter)
    setCounter(counter, token, leftMs == -1 and '0' or math.max(leftMs, counterMs), 0)
  end
end
