--[[
  Lowers the hold count of one who reads or writes; at zero that one has the lock no more, and those are told who
  may have it next. One who writes and reads goes on reading.

  Safe to run twice: the caller states the hold count it wants afterwards.

  KEYS[1]  lock        hash: `mode`, and owner -> hold count
  KEYS[2]  counter     string: the last fencing token issued for this lock
  KEYS[3]  readers     zset: member -> since when it waits to read
  KEYS[4]  writers     zset: member -> since when it waits to write, or for the upgradable lock
  KEYS[5]  alive       hash: member -> until when that counts
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
local place, queue = placeOf(keys, client, owner, '')
waitsNoMore(keys, place, queue)
local found = redis.call('HMGET', keys.lock, 'mode', owner)
local held = found[1] and found[2]
if held and writes and token ~= '' then
  local last = redis.call('GET', keys.counter)
  held = not (last and last ~= token and tonumber(last) > tonumber(token)) and held
end
if not held then
  -- It may have waited under its own name.
  local hasLeft = waitsNoMore(keys, owner, queue) or client ~= ''
  -- Whoever waited behind the one who has left is next now.
  if hasLeft and found[1] ~= 'write' then
    tellNext(keys, publish, channel, found[1] and countHolders(keys) or 0)
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
  local left = 0
  if redis.call('HLEN', keys.lock) > 1 then
    -- It goes on reading.
    redis.call('HSET', keys.lock, 'mode', 'read')
    left = dropDead(keys)
  else
    redis.call('DEL', keys.lock)
  end
  return { 'freed', wake(keys, publish, channel, left, true, claimMs) }
end

local leftMs = readerTtlMs(keys, owner, 1)
redis.call('DEL', leaseKey(keys, owner))
if found[1] == 'write' then
  return { 'freed', 0 }
end
if redis.call('HLEN', keys.lock) == 1 then
  redis.call('DEL', keys.lock)
  return { 'freed', wake(keys, publish, channel, 0, false, claimMs) }
end
-- Others read. Who waits to write is told when they are gone, or if it waits for an upgrade when it is alone.
local first, sinceUs = firstOf(keys, keys.writers)
-- Those of Redisson who wait go by the expiry of the lock alone: it is not to last for much longer than the longest lease
-- left, and this may have been the longest. The two are set together, but not in one moment on every server.
local lockMs = redis.call('PTTL', keys.lock)
local isLong = lockMs - leftMs < 100 or lockMs - leftMs * 2 > 1000
local left = (first or isLong) and countHolders(keys)
if left == 0 then
  return { 'freed', wake(keys, publish, channel, 0, false, claimMs) }
elseif isUpgradable(owner) or left == 1 and sinceUs == GOES_ON then
  tellNext(keys, publish, channel, left)
end
return { 'freed', 0 }
