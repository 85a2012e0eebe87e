-- Included by the scripts of the count-down latch, after parts/server-time.lua and parts/kind.lua.
--
-- latch  string: what is left to be counted, as Redisson has it; not there when the latch is open
-- round  string with an expiry: when the count was set, server time in µs, which is the number of the round. Redisson
--        does not know of it, so that it may be missing, or be of an earlier count

-- 30 days: the key stays behind only if Redisson opens the latch.
local ROUND_MS = 2592000000

-- What is left; false where no count is set; or an error, also for the number of a semaphore.
local function countOf(latch, kind)
  local count, refusal = numberOf(latch, kind, 'latch')
  if not count then
    return refusal or false
  end
  if not string.match(count, '^%-?%d+$') then
    return redis.error_reply('WRONGTYPE a key that is no count has this name')
  end
  return tonumber(count)
end

-- True if a call is not meant for the round that was set at `setUs`. A call may name its own round. If it does not, it
-- is too late if it was made before that moment. A round from the future was set before the clock was set back: its
-- time says nothing.
local function isOfOtherRound(setUs, ownRound, askedUs)
  if ownRound then
    return setUs ~= ownRound
  end
  return setUs and askedUs > 0 and tonumber(setUs) > askedUs and tonumber(setUs) <= serverTimeUs()
end
