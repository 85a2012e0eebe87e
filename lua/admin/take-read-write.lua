--[[
  Ends one hold of a read-write lock that the caller saw, and no other hold. Then the script wakes the next waiters. If
  no other owner holds the lock, the script raises the counter, so that each later token is above every token of the
  ended hold.

  Safe to run twice: a repeat cannot end the next hold. A later hold has another owner or, for a writer, a newer token.

  KEYS[1]  lock       hash: `mode`, and owner -> hold count
  KEYS[2]  counter    string: the last fencing token issued for this lock
  KEYS[3]  readers    zset: member -> the server time in µs at which its wait to read began
  KEYS[4]  writers    zset: member -> the server time in µs at which its wait began, to write or for the upgradable lock
  KEYS[5]  alive      hash: member -> the server time in ms until which its place counts
  KEYS[6]  phase      string: exists while the waiting readers go before the waiting writers
  ARGV[1]  owner      `<clientId>:<owner>`, for a writer with `:write`
  ARGV[2]  token      number or '': for a writer, the last token that the caller saw; '' ends any hold of the owner
  ARGV[3]  floor      number: the counter is raised to at least this value
  ARGV[4]  counterMs  how long the counter is kept from now, at least, in milliseconds
  ARGV[5]  claimMs    how long the waiting readers go before the waiting writers, in milliseconds
  ARGV[6]  prefix     the prefix of the timeout keys of this lock
  ARGV[7]  channel    the channel of the waiters of this lock
  ARGV[8]  publish    PUBLISH or SPUBLISH

  Returns
    { 'taken', fence: number or '' as null }  each later token is above the fence; '' if other owners still hold the
                                              lock
    { 'free' }     the lock is free
    { 'changed' }  another owner holds the lock, or the same owner has a newer token
]]
local keys = {
  lock = KEYS[1], counter = KEYS[2], readers = KEYS[3], writers = KEYS[4], alive = KEYS[5],
  phase = KEYS[6], prefix = ARGV[6],
}
local owner, token, floor, counterMs, claimMs = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local channel, publish = ARGV[7], ARGV[8]

-- include: parts/server-time.lua

-- include: parts/counter.lua

-- include: parts/fence.lua

-- include: parts/read-write-lock.lua

-- include: parts/read-write-leases.lua

-- include: parts/read-write-queues.lua

-- include: parts/read-write-turns.lua

if redis.call('EXISTS', keys.lock) == 0 then
  return { 'free' }
end
local found = redis.call('HMGET', keys.lock, 'mode', owner)
local mode, held = found[1], found[2]
if not mode then
  return redis.error_reply(OTHER_LOCK)
end
local writes = isWriter(owner)
local last = tonumber(redis.call('GET', keys.counter) or 0)
if not held or writes and token ~= '' and last > tonumber(token) then
  return { 'changed' }
end

-- The next reader gets the number in the counter as its token, so the script raises the counter above the fence.
local fence = lastOf(keys.counter, floor)
local above = string.format('%.0f', fence + 1)

redis.call('HDEL', keys.lock, owner)
if writes then
  -- If the owner also reads, it keeps its hold as a reader. If there is no reader, `dropDead` deletes the lock.
  redis.call('HSET', keys.lock, 'mode', 'read')
  local left = dropDead(keys)
  raiseTo(keys.counter, above, counterMs)
  wake(keys, publish, channel, left, true, claimMs)
  return { 'taken', fence }
end
for n = 1, tonumber(held) or 1 do
  redis.call('DEL', keys.prefix .. ':' .. owner .. ':rwlock_timeout:' .. n)
end
if mode == 'write' then
  return { 'taken', '' }
end
local left = dropDead(keys)
if left == 0 then
  raiseTo(keys.counter, above, counterMs)
  wake(keys, publish, channel, 0, false, claimMs)
  return { 'taken', fence }
end
-- Other owners still hold the lock. The script wakes the next waiters in two cases: the ended hold was upgradable, or
-- the only holder that is left waits for an upgrade.
local _, sinceUs = firstOf(keys, keys.writers)
if isUpgradable(owner) or left == 1 and sinceUs == GOES_ON then
  tellNext(keys, publish, channel, left)
end
return { 'taken', '' }
