--[[
  Grants permits of a rate limiter: now, or at the earliest time at which the grant exceeds no limit. Later calls get no
  earlier time, so calls are granted in the order in which the server received them.

  In each interval of `perMs`, the script grants at most `permits` permits. The limit of each call is checked against all
  grants, even if other clients have other limits. A copy of the request with `again` finds the grant of the first copy.

  KEYS[1]  log         list: the grants that still count
  KEYS[2]  state       hash: the sum of the grants, and the last times
  ARGV[1]  id          the id of the call
  ARGV[2]  permits     number: the most permits in each interval
  ARGV[3]  perMs       the length of the interval, in milliseconds
  ARGV[4]  cost        number: the permits that the call needs, at most `permits`
  ARGV[5]  mostMs      number or '': the longest wait in milliseconds; '' means no limit; -1 means that the script only
                       looks for the grant of an earlier copy
  ARGV[6]  again       1 or '': 1 if an earlier copy of the request may have been granted
  ARGV[7]  notAfterUs  server time after which nothing new is granted, in µs; 0 means no limit

  Returns
    { 'granted', waitUs, atUs >= 1 }  the call has its permits after `waitUs`; `atUs` identifies the grant
    { 'refused', waitUs }             the call would have to wait for longer than `mostMs`: for `waitUs`, if no other
                                      call comes first
    { 'late', serverTimeUs >= 1 }     refused: the server time is after notAfterUs
]]
-- One call deletes at most this many entries, so that no call takes long.
local MOST_AT_ONCE = 100

local log, state = KEYS[1], KEYS[2]
local id, permits, perMs, cost = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local mostMs, again, notAfterUs = tonumber(ARGV[5]), ARGV[6] == '1', tonumber(ARGV[7])

-- include: parts/server-time.lua

-- include: parts/late.lua

-- include: parts/rate.lua

local rate = readRate(state)
if again then
  local foundUs
  eachGrant(log, -1, function(grantedUs, _, other)
    foundUs = other == id and grantedUs
    return foundUs
  end)
  if foundUs then
    return { 'granted', digits(math.max(0, foundUs - rate.nowUs)), digits(foundUs) }
  end
end
if isLate(notAfterUs) then
  return { 'late', serverTimeText() }
end

local atUs = math.max(rate.nowUs, rate.lastUs)
if perMs > rate.keptMs or atUs - rate.keptUs >= rate.keptMs * 1000 then
  -- In a longer interval, the skipped and deleted entries count for longer.
  for _, field in ipairs({ 'floorUs', 'goneUs' }) do
    if rate[field] > 0 then
      rate[field] = math.max(0, rate[field] + (perMs - rate.keptMs) * 1000)
    end
  end
  rate.keptMs = perMs
  atUs = math.max(atUs, rate.floorUs)
end
local used, skipped, floorUs = rate.used, rate.skipped, rate.floorUs
local left = used

-- Skips an entry that no longer counts for any limit, when the next grant begins.
local function skipIfOver(grantedUs, granted)
  local untilUs = grantedUs + rate.keptMs * 1000
  if untilUs > atUs then
    return false
  end
  skipped, used, floorUs = skipped + 1, used - granted, untilUs
  return true
end

if perMs < rate.keptMs then
  -- Most entries count only for longer intervals. So this begins with the newest entry.
  local own = {}
  left = 0
  eachGrant(log, -1, function(grantedUs, granted)
    if grantedUs + perMs * 1000 <= atUs then
      return true
    end
    own[#own + 1], left = { grantedUs, granted }, left + granted
  end)
  while left + cost > permits do
    local oldest = table.remove(own)
    atUs, left = math.max(atUs, oldest[1] + perMs * 1000), left - oldest[2]
  end
  local visited = 0
  eachGrant(log, skipped, function(grantedUs, granted)
    visited = visited + 1
    return visited > MOST_AT_ONCE or not skipIfOver(grantedUs, granted)
  end)
elseif used + cost > permits then
  eachGrant(log, skipped, function(grantedUs, granted)
    atUs = math.max(atUs, grantedUs + perMs * 1000)
    left = left - granted
    skipIfOver(grantedUs, granted)
    return left + cost <= permits
  end)
end

local waitUs = atUs - rate.nowUs
if mostMs and waitUs > mostMs * 1000 then
  -- This write also makes a replica refuse the script. A replica may not have received the last grants yet.
  redis.call('HSET', state, 'seenUs', digits(rate.nowUs), 'skewUs', digits(rate.skewUs))
  if redis.call('PTTL', state) < 0 then
    redis.call('PEXPIRE', state, perMs)
  end
  return { 'refused', digits(waitUs) }
end

-- Deletes a few of the skipped entries that no longer count. A waiting call may still have to find its entry.
local deleted = 0
if skipped > 0 then
  eachGrant(log, 0, function(grantedUs)
    if deleted == skipped or deleted == MOST_AT_ONCE or grantedUs + rate.keptMs * 1000 > rate.nowUs then
      return true
    end
    deleted, rate.goneUs = deleted + 1, grantedUs + rate.keptMs * 1000
  end)
end
if deleted > 0 then
  redis.call('LTRIM', log, deleted, -1)
end
local at = digits(atUs)
redis.call('RPUSH', log, at .. ' ' .. cost .. ' ' .. id)
local keptUs = perMs == rate.keptMs and at or digits(rate.keptUs)
redis.call('HSET', state, 'used', used + cost, 'skipped', skipped - deleted, 'lastUs', at, 'floorUs', digits(floorUs),
  'goneUs', digits(rate.goneUs), 'permits', permits, 'perMs', perMs, 'keptMs', rate.keptMs, 'keptUs', keptUs,
  'seenUs', digits(rate.nowUs), 'skewUs', digits(rate.skewUs))
-- An earlier grant with a longer interval may have to be kept for longer.
local keptMs = digits(math.max(redis.call('PTTL', state), math.ceil(waitUs / 1000) + rate.keptMs + 1))
redis.call('PEXPIRE', log, keptMs)
redis.call('PEXPIRE', state, keptMs)
return { 'granted', digits(waitUs), at }
