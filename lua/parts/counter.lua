-- Writes a token down; `counterMs` of '0' is for good.
local function setCounter(counter, token, counterMs)
  if counterMs == '0' then
    redis.call('SET', counter, token)
  else
    redis.call('SET', counter, token, 'PX', counterMs)
  end
end
