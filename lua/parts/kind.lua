-- The numbers of latches and of both kinds of semaphores look alike in Redis. So another key stores which kind of
-- object set the number.
--
-- `kind`  string with an expiry: 'latch', 'permits' or 'semaphore'. This key counts only while the number exists.
--         Redisson and older versions do not write the key. Without the key, any kind of object may use the number.

local KIND_MS = 604800000
local DAY_MS = 86400000
local OTHER_KIND = {
  latch = 'WRONGTYPE a latch has this name',
  permits = 'WRONGTYPE a semaphore with leases has this name',
  semaphore = 'WRONGTYPE a semaphore without leases has this name',
}

-- Returns the number as text, or false if there is no number. If another kind set the number, returns false and an
-- error.
local function numberOf(number, kind, own)
  local text = redis.call('GET', number)
  local noted = text and redis.call('GET', kind)
  if noted and noted ~= own and OTHER_KIND[noted] then
    return false, redis.error_reply(OTHER_KIND[noted])
  end
  return text
end

local function noteKind(kind, own)
  redis.call('SET', kind, own, 'PX', KIND_MS)
end

-- Called when the number is used. Keeps the key for another week. Sets the expiry at most once a day, to save commands.
local function keepKind(kind)
  local leftMs = redis.call('PTTL', kind)
  if leftMs >= 0 and leftMs < KIND_MS - DAY_MS then
    redis.call('PEXPIRE', kind, KIND_MS)
  end
end
