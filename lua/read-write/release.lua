--[[
  Lowers the hold count of one who reads or writes; at zero that one has the lock no more, and those are told who
  may have it next. One who writes and reads goes on reading.

  Safe to run twice: the caller states the hold count it wants afterwards.

  KEYS[1]  lock        hash: `mode`, and owner -> hold count
  KEYS[2]  counter     string: the last fencing token issued for this lock
  KEYS[3]  readers     zset: client -> since when somebody of it waits to read
  KEYS[4]  writers     zset: client -> since when somebody of it waits to write
  KEYS[5]  alive       hash: client -> until when that counts
  KEYS[6]  phase       string: there while those are let in who waited to read
  ARGV[1]  owner       `<clientId>:<owner>`, with `:write` of one who writes
  ARGV[2]  token       number or '': of one who writes, the token of the hold to be ended; '' ends whatever hold
                       the owner has
  ARGV[3]  channel     where the waiters of this lock listen
  ARGV[4]  publish     PUBLISH or SPUBLISH
  ARGV[5]  prefix      what the names of the timeout keys of this lock begin with
  ARGV[6]  client      the client, where none of those who wait there is next to ask for this kind; '' where one is
  ARGV[7]  claimMs     how long those are let in who waited to read, in milliseconds
  ARGV[8]  holds=0     the hold count wanted after this call
  ARGV[9]  notAfterUs?  server time after which no count above 0 is set, in µs; 0 is never

  Returns
    { 'freed', listeners }   the owner has it no more, and so many were told
    { 'kept' }               the owner holds it still, with the count asked for
    { 'gone' }               the owner did not hold it, or not under that token
    { 'late', serverTimeUs >= 1 }  refused: it is later than notAfterUs
]]
local keys = {
  lock = KEYS[1], counter = KEYS[2], readers = KEYS[3], writers = KEYS[4], alive = KEYS[5],
  phase = KEYS[6], prefix = ARGV[5],
}
local owner, token, channel, publish = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local client, claimMs = ARGV[6], ARGV[7]
local holds, notAfterUs = tonumber(ARGV[8] or 0), tonumber(ARGV[9] or 0)

-- include: parts/server-time.lua

-- include: parts/late.lua

-- include: parts/read-write-lock.lua

local writes = isWriter(owner)
waitsNoMore(keys, client, writes and keys.writers or keys.readers)
local found = redis.call('HMGET', keys.lock, 'mode', owner)
local held = found[1] and found[2]
if held and writes and token ~= '' then
  local last = redis.call('GET', keys.counter)
  held = not (last and last ~= token and tonumber(last) > tonumber(token)) and held
end
if not held then
  -- Whoever waited behind the one who has left is next now.
  if client ~= '' and found[1] ~= 'write' then
    tellNext(keys, publish, channel, found[1] == 'read')
  end
  return { 'gone' }
end
if holds > 0 then
  if tonumber(held) <= holds then
    return { 'kept' }
  end
  if isLate(notAfterUs) then
    return { 'late', serverTimeText() }
  end
  -- First: a full server refuses HSET, but not in a script that has written something already.
  redis.call('HDEL', keys.lock, '')
  redis.call('HSET', keys.lock, owner, holds)
  return { 'kept' }
end

redis.call('HDEL', keys.lock, owner)
if writes then
  local goesOnReading = redis.call('HLEN', keys.lock) > 1
  if goesOnReading then
    redis.call('HSET', keys.lock, 'mode', 'read')
    goesOnReading = dropDead(keys) > 0
  else
    redis.call('DEL', keys.lock)
  end
  return { 'freed', wake(keys, publish, channel, true, goesOnReading, claimMs) }
end

local leftMs = readerTtlMs(keys, owner, 1)
redis.call('DEL', keys.prefix .. ':' .. owner .. ':rwlock_timeout:1')
if found[1] == 'write' then
  return { 'freed', 0 }
end
if redis.call('HLEN', keys.lock) == 1 then
  redis.call('DEL', keys.lock)
  return { 'freed', wake(keys, publish, channel, false, false, claimMs) }
end
-- Others read: who waits to write is told when they are gone, and who reads and is to write when it is alone.
local writer, sinceUs = firstOf(keys, keys.writers)
-- Those of Redisson who wait look at the expiry of the lock alone: it is to be that of the longest lease left,
-- and this may have been the longest. The two are set together, but not in one moment on every server.
local wasLongest = redis.call('PTTL', keys.lock) - leftMs < 100
if isReadByMany(keys, wasLongest) then
  if isUpgradable(owner) and not writer then
    tellNext(keys, publish, channel, true)
  end
  return { 'freed', 0 }
end
local left = (writer or wasLongest) and dropDead(keys)
if left == 0 then
  return { 'freed', wake(keys, publish, channel, false, false, claimMs) }
elseif writer then
  if left == 1 and sinceUs == GOES_ON then
    redis.call(publish, channel, GOES_ON)
  end
elseif isUpgradable(owner) then
  tellNext(keys, publish, channel, true)
end
return { 'freed', 0 }
