-- Included by the scripts of the count-down latch, after parts/server-time.lua and parts/kind.lua.
--
-- latch  string: what is left to be counted, as Redisson has it; not there when the latch is open
-- round  string with an expiry: when the count was set, server time in µs. Redisson does not know of it, so that
--        it may be missing, or be of an earlier count

-- An awaiter looks every few seconds, and knows the round by then.
local ROUND_MS = 3600000

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

-- Since when there is this round, if it was set after a call was made: by an upper bound of that moment. One that
-- is ahead of the server's clock, which was set back then, says nothing.
local function setAfter(round, askedUs)
  local setUs = redis.call('GET', round)
  if setUs and askedUs > 0 and tonumber(setUs) > askedUs and tonumber(setUs) <= serverTimeUs() then
    return setUs
  end
  return false
end
