--[[
  Takes a read-write lock from one who reads or writes and was seen to, and from nobody else; and tells those who
  may have it next. Where nobody else has it then, the counter is raised, so that every later token is above all
  that this one could have.

  Safe to run twice: a repeat cannot end the hold of whoever came next, for that one has another name, or of those
  who write a newer token.

  KEYS[1]  lock       hash: `mode`, and owner -> hold count
  KEYS[2]  counter    string: the last fencing token issued for this lock
  KEYS[3]  readers    zset: member -> since when it waits to read
  KEYS[4]  writers    zset: member -> since when it waits to write, or for the upgradable lock
  KEYS[5]  alive      hash: member -> until when that counts
  KEYS[6]  phase      string: there while those are let in who waited to read
  ARGV[1]  owner      `<clientId>:<owner>`, with `:write` of one who writes
  ARGV[2]  token      number or '': of one who writes, the last token that was seen; '' ends whatever hold it has
  ARGV[3]  floor      number: the counter is raised to this at least
  ARGV[4]  counterMs  how long the counter is kept from now at least, in milliseconds
  ARGV[5]  claimMs    how long those are let in who waited to read, in milliseconds
  ARGV[6]  prefix     what the names of the timeout keys of this lock begin with
  ARGV[7]  channel    where the waiters of this lock listen
  ARGV[8]  publish    PUBLISH or SPUBLISH

  Returns
    { 'taken', fence: number or '' as null }
                   every later token is above the fence; '' where others have it still
    { 'free' }     nobody has it
    { 'changed' }  that one does not have it any more, and somebody else does
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

-- Whoever reads next is given the last token: that is to be above the fence as well.
local fence = lastOf(keys.counter, floor)
local above = string.format('%.0f', fence + 1)

redis.call('HDEL', keys.lock, owner)
if writes then
  -- It may read as well, and goes on to.
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
-- Who waits for an upgrade is told when it is alone.
local _, sinceUs = firstOf(keys, keys.writers)
if isUpgradable(owner) or left == 1 and sinceUs == GOES_ON then
  tellNext(keys, publish, channel, left)
end
return { 'taken', '' }
