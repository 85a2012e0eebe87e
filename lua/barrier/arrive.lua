--[[
  Counts an arrival in the current round, or renews the lease of the arrival. The last arrival ends the round, and one
  message wakes all parties.

  Safe to run twice: an arrival is counted once, under its id. An arrival that was counted or has left is not counted
  again.

  KEYS[1]  barrier     zset: id of an arrival -> when its lease ends, server time in ms
  KEYS[2]  state       hash: when the round began, server time in µs, and its number of parties
  KEYS[3]  settled     zset: outcome of an arrival -> until when it is stored, server time in ms
  ARGV[1]  id          the id of the arrival
  ARGV[2]  parties     number: how many arrivals end the round
  ARGV[3]  leaseMs     the arrival counts for this long from now, in milliseconds
  ARGV[4]  round       number or '': the only round in which the arrival counts; '' is the current round
  ARGV[5]  notAfterUs  server time after which no arrival is counted, in µs; 0 is never
  ARGV[6]  channel     the channel of the parties
  ARGV[7]  publish     PUBLISH or SPUBLISH
  ARGV[*]  answered    ids of earlier arrivals whose outcomes the client knows

  Returns
    { 'waiting', round >= 1, arrived >= 1 }  the arrival counts; the round needs more arrivals
    { 'passed' }                             the round of the arrival is over: all parties had arrived
    { 'gone' }                               it does not count: it has left, or its lease ended before its round
    { 'other', parties >= 1 }                refused: the round has another number of parties
    { 'late', serverTimeUs >= 1 }            refused: it is later than notAfterUs
]]
local barrier, state, settled = KEYS[1], KEYS[2], KEYS[3]
local id, parties, leaseMs, ownRound = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local notAfterUs, channel, publish = tonumber(ARGV[5]), ARGV[6], ARGV[7]

-- include: parts/server-time.lua

-- include: parts/late.lua

-- include: parts/barrier.lua

local outcome = outcomeOf(barrier, settled, id)
for i = 8, #ARGV do
  redis.call('ZREM', settled, '=' .. ARGV[i], '-' .. ARGV[i])
end
if outcome then
  return { outcome == 'passed' and 'passed' or 'gone' }
end
if isLate(notAfterUs) then
  return { 'late', serverTimeText() }
end
local arrived = arrivedAt(barrier)
local current, wanted = unpack(redis.call('HMGET', state, 'round', 'parties'))
local isOpen = arrived > 0 and current
if ownRound ~= '' and (not isOpen or current ~= ownRound) then
  return { 'gone' }
end
if isOpen and tonumber(wanted) ~= parties then
  return { 'other', wanted }
end
if not isOpen then
  -- Each round has another number, even if the clock was set back.
  local last = tonumber(current or 0)
  current = last < serverTimeUs() and serverTimeText() or string.format('%.0f', last + 1)
  redis.call('HSET', state, 'round', current, 'parties', parties)
end
local endsMs = nowMs() + leaseMs
redis.call('ZADD', barrier, expiry(endsMs), id)
arrived = redis.call('ZCARD', barrier)
if arrived < parties then
  -- The keys live as long as the longest lease.
  for _, key in ipairs({ barrier, state }) do
    if redis.call('PTTL', key) < leaseMs then
      redis.call('PEXPIREAT', key, expiry(endsMs))
    end
  end
  return { 'waiting', current, arrived }
end
settle(settled, '=', redis.call('ZRANGE', barrier, 0, -1))
redis.call('DEL', barrier)
redis.call('PEXPIREAT', state, expiry(nowMs() + SETTLED_MS))
redis.call(publish, channel, current)
return { 'passed' }
