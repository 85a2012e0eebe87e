-- Included after parts/server-time.lua and parts/late.lua. A request that is to count once, however often it is
-- sent and whenever its copies arrive: what it came to is kept under a name of its own, for as long as a copy
-- may still run, which is until `untilUs`.
--
-- request  string with an expiry: what it came to

-- Where `untilUs` is 0 it may run at any time; it is kept for no longer than this.
local LONGEST_KEPT_US = 90000000

-- What it came to before; false where it has not run.
local function answerTo(request)
  return redis.call('GET', request)
end

-- To be called after the first write: a full server refuses SET, but not in a script that has written already.
local function keepAnswer(request, answer, untilUs)
  local untilUs = untilUs > 0 and untilUs or serverTimeUs() + LONGEST_KEPT_US
  -- A little longer, so that it is there when the request is refused as late.
  redis.call('SET', request, answer, 'PXAT', string.format('%.0f', math.ceil(untilUs / 1000) + 1000))
end
