-- Included after parts/server-time.lua and parts/late.lua. Makes a request take effect once, even if the client sends
-- several copies. The result is stored under the name of the request as long as a copy may run, which is until
-- `untilUs`.
--
-- `request`  string with an expiry: the result of the request.

-- 90 s. If `untilUs` is 0, a copy may run at any time, and its result is kept for this time.
local LONGEST_KEPT_US = 90000000

-- Returns the stored result; false if no result is stored.
local function answerTo(request)
  return redis.call('GET', request)
end

-- A full server refuses SET, unless the script has sent a write command before. So scripts call this function after
-- their first write.
local function keepAnswer(request, answer, untilUs)
  local untilUs = untilUs > 0 and untilUs or serverTimeUs() + LONGEST_KEPT_US
  -- The result is stored for one second longer. So the server already refuses copies as late when the result expires.
  redis.call('SET', request, answer, 'PXAT', string.format('%.0f', math.ceil(untilUs / 1000) + 1000))
end
