--[[
  Acquires several locks, or none. Each is a first acquisition. All locks get the same fencing token.

  Safe to run twice, like `acquire`: a repeat finds all its own owners in the locks and acquires nothing. The script
  changes nothing if another owner holds one of the locks. It also changes nothing if an earlier run of the request
  still holds only some locks. The caller then releases these locks.

  KEYS[*]  both        for each lock its two keys: the lock, a hash: owner -> hold count; its counter, a string: the
                       last fencing token issued for this lock
  ARGV[1]  leaseMs     the keys live at least this long from now, in milliseconds
  ARGV[2]  notAfterUs  server time after which nothing is acquired, in µs; 0 means no limit
  ARGV[3]  counterMs   how long the counters are kept from now, in milliseconds; 0 means forever
  ARGV[*]  owners      text[]: `<clientId>:<owner>` for each lock, in the order of the keys

  Returns
    { 'granted', token >= 1 }  the owners hold all locks; the token is above each token issued for any of them
    { 'held', ttlMs >= -2, n >= 1 }  another owner holds the n-th lock for ttlMs more; -1 means no expiry. The value -2
                                     means that an earlier run acquired the lock, and its hold is over
    { 'late', serverTimeUs >= 1 }  refused: the server time is after notAfterUs
]]
local leaseMs, notAfterUs, counterMs = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]

-- include: parts/server-time.lua

-- include: parts/late.lua

-- include: parts/counter.lua

-- include: parts/token.lua

-- include: parts/read-write.lua

-- include: parts/replica.lua

local own, missing, last = 0, nil, 0
for n = 1, #KEYS / 2 do
  local lock, owner = KEYS[2 * n - 1], ARGV[3 + n]
  local ttlMs = redis.call('PTTL', lock)
  local found = ttlMs ~= -2 and redis.call('HMGET', lock, owner, 'mode') or {}
  if found[2] then
    return redis.error_reply(READ_WRITE)
  end
  if ttlMs ~= -2 and not found[1] then
    return refusalOfReplica(lock) or { 'held', ttlMs, n }
  end
  if found[1] then
    own = own + 1
  else
    missing = missing or n
  end
  last = math.max(last, tonumber(redis.call('GET', KEYS[2 * n]) or 0))
end

-- An earlier run of this request acquired the locks, and some of its holds are over. A new token would end the other
-- holds, so the script refuses the request.
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
