-- Included after parts/server-time.lua and parts/late.lua. Makes a request take effect once, even if the client sends
-- several copies. The result is stored under the name of the request until `untilUs`, because no copy runs later.
--
-- `request`  string with an expiry: the result of the request.

-- 90 s. If `untilUs` is 0, copies have no deadline, and the result is kept for this time.
local LONGEST_KEPT_US = 90000000

-- Returns the stored result; false if no result is stored.
local function answerTo(request)
  return redis.call('GET', request)
end

-- A server with full memory refuses SET as the first write of a script. A script that must work on such a server writes
-- something else before.
local function keepAnswer(request, answer, untilUs)
  local untilUs = untilUs > 0 and untilUs or serverTimeUs() + LONGEST_KEPT_US
  -- The result is stored for one second longer than `untilUs`. When the result expires, the server already refuses all
  -- copies as late.
  redis.call('SET', request, answer, 'PXAT', string.format('%.0f', math.ceil(untilUs / 1000) + 1000))
end
