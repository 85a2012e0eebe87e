-- Included after parts/server-time.lua, parts/counter.lua and parts/token.lua. Issues the next token of a lock, and
-- stores it in the counter. `reserve` is as in `nextToken`, or nil for none.
--
-- Most acquisitions need only one command here. Without a reserve, the token is made as a text, because formatting a
-- number would cost half the time of another command.
local function issueToken(counter, counterMs, leaseMs, reserve)
  local nowUs = serverTimeUs()
  local token = reserve and string.format('%.0f', nowUs + reserve) or serverTimeText()
  local last
  if counterMs == '0' then
    last = redis.call('SET', counter, token, 'GET')
  else
    last = redis.call('SET', counter, token, 'PX', counterKeptMs(counterMs, leaseMs), 'GET')
  end
  if (tonumber(last) or 0) >= nowUs then
    token = nextToken(last, 0, reserve or 0)
    setCounter(counter, token, counterMs, leaseMs)
  end
  return token
end
