-- Included by the scripts of rate limiters, after parts/server-time.lua.
--
-- `log`    list with an expiry: the grants in order, even of calls that still wait. An entry is `<atUs> <cost> <id>`. A
--          grant counts from `atUs` on. If `atUs` is in the future, its call waits until then.
-- `state`  hash with an expiry. The first `skipped` entries of the log no longer count when the next grant begins, and
--          `used` is the sum of the other costs. No later grant is before `lastUs`. The skipped entries no longer count
--          from `floorUs` on, and the deleted entries from `goneUs` on. `permits` and `perMs` are the settings of the
--          last grant. An entry is skipped or deleted only after `keptMs`: the longest `perMs` of the grants. `keptUs` is
--          the time of the last grant with this `perMs`. `seenUs` is the time of the last request for permits.
--
-- All these times are server times in µs, plus `skewUs`. If the clock of the server is set back, `skewUs` grows, so that
-- the times never run backwards.

-- Returns the fields of the state as numbers, with the current time in `nowUs`.
local function readRate(state)
  local names = { 'used', 'skipped', 'lastUs', 'floorUs', 'goneUs', 'keptMs', 'keptUs', 'seenUs', 'skewUs' }
  local rate = {}
  for i, text in ipairs(redis.call('HMGET', state, unpack(names))) do
    rate[names[i]] = tonumber(text or 0)
  end
  rate.nowUs = serverTimeUs() + rate.skewUs
  if rate.nowUs < rate.seenUs then
    rate.skewUs = rate.skewUs + rate.seenUs - rate.nowUs
    rate.nowUs = rate.seenUs
  end
  return rate
end

local function digits(number)
  return string.format('%.0f', number)
end

local function readGrant(entry)
  local atUs, cost, id = string.match(entry, '^(%d+) (%d+) (.*)$')
  return tonumber(atUs), tonumber(cost), id
end

-- Calls `visit` with each entry of the log from this index on, until it returns true. From a negative index, the function
-- goes from the end of the log to its beginning.
local function eachGrant(log, from, visit)
  local step, size = from < 0 and -1 or 1, 8
  while true do
    local to = from + step * (size - 1)
    local entries = redis.call('LRANGE', log, math.min(from, to), math.max(from, to))
    for i = 1, #entries do
      if visit(readGrant(entries[step > 0 and i or #entries + 1 - i])) then
        return
      end
    end
    if #entries < size then
      return
    end
    from, size = from + step * size, 1000
  end
end
