--[[
  Takes several locks at once, or none of them. All are first acquisitions, under one fencing token.

  Safe to run twice, as `acquire` is: a repeat finds its own names there, all of them, and takes
  nothing. Where one is held by somebody else, or only some are still the caller's from an earlier
  run, it changes nothing; what that run took is then given back by whoever asked.

  KEYS[*]  both        of each lock, one after the other: the lock, a hash: owner -> hold count; its
                       counter, a string: the last fencing token issued for this lock
  ARGV[1]  leaseMs     the keys live at least this long from now, in milliseconds
  ARGV[2]  notAfterUs  server time after which nothing is taken, in µs; 0 is never
  ARGV[3]  counterMs   how long the counters are kept from now, in milliseconds; 0 is for good
  ARGV[*]  owners      text[]: `<clientId>:<owner>` for each lock, in the same order

  Returns
    { 'granted', token >= 1 }
                             all are the owners'; the token is above all that were issued for any
    { 'held', ttlMs >= -2, n >= 1 }
                             somebody else has the n-th for ttlMs more; -1 means without an expiry,
                             -2 that an earlier run took it and it was let go since
    { 'late', serverTimeUs >= 1 }  refused: it is later than notAfterUs
]]
local leaseMs, notAfterUs, counterMs = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]

-- include: parts/server-time.lua

-- include: parts/late.lua

-- include: parts/counter.lua

-- include: parts/token.lua

-- include: parts/read-write.lua

local own, missing, last = 0, nil, 0
for n = 1, #KEYS / 2 do
  local lock, owner = KEYS[2 * n - 1], ARGV[3 + n]
  local ttlMs = redis.call('PTTL', lock)
  local found = ttlMs ~= -2 and redis.call('HMGET', lock, owner, 'mode') or {}
  if found[2] then
    return redis.error_reply(READ_WRITE)
  end
  if ttlMs ~= -2 and not found[1] then
    return { 'held', ttlMs, n }
  end
  if found[1] then
    own = own + 1
  else
    missing = missing or n
  end
  last = math.max(last, tonumber(redis.call('GET', KEYS[2 * n]) or 0))
end

-- A new token would put an end to the holds that are still in use.
if own > 0 and missing then
  return { 'held', -2, missing }
end

local nowUs = serverTimeUs()
if missing and isLate(notAfterUs) then
  return { 'late', serverTimeText() }
end

local again = not missing and last > 0
local token = again and string.format('%.0f', last) or nextToken(last, nowUs, 0)
for n = 1, #KEYS / 2 do
  local lock = KEYS[2 * n - 1]
  if missing then
    redis.call('HSET', lock, ARGV[3 + n], '1')
  end
  if redis.call('PTTL', lock) < leaseMs then
    redis.call('PEXPIRE', lock, leaseMs)
  end
  setCounter(KEYS[2 * n], token, counterMs, leaseMs)
end
return { 'granted', token }
