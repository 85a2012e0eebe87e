--[[
  Counts an arrival in the current round, or renews the lease of the arrival. The last arrival ends the round, and one
  message wakes all parties.

  Safe to run twice: an arrival is counted once, under its id. An arrival that was counted or withdrawn before is not
  counted again.

  KEYS[1]  barrier     zset: id of an arrival -> the server time in ms at which its lease ends
  KEYS[2]  state       hash: the server time in µs at which the round began, and its number of parties
  KEYS[3]  settled     zset: outcome of an arrival -> the server time in ms until which the outcome is stored
  ARGV[1]  id          the id of the arrival
  ARGV[2]  parties     number: how many arrivals end the round
  ARGV[3]  leaseMs     the arrival counts for this long from now, in milliseconds
  ARGV[4]  round       number or '': the only round in which the arrival counts; '' means the current round
  ARGV[5]  notAfterUs  server time after which no arrival is counted, in µs; 0 means no limit
  ARGV[6]  channel     the channel of the parties
  ARGV[7]  publish     PUBLISH or SPUBLISH
  ARGV[*]  answered    ids of earlier arrivals whose outcomes the client knows, so the script deletes these outcomes

  Returns
    { 'waiting', round >= 1, arrived >= 1 }  the arrival counts; the round needs more arrivals
    { 'passed' }                             the round of the arrival is over: all parties had arrived
    { 'gone' }                               not counted: the arrival was withdrawn, or its round ended without it
    { 'other', parties >= 1 }                refused: the round has another number of parties
    { 'late', serverTimeUs >= 1 }            refused: the server time is after notAfterUs
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
  -- Each round gets a greater number than the round before, even if the clock was set back.
  local last = tonumber(current or 0)
  current = last < serverTimeUs() and serverTimeText() or string.format('%.0f', last + 1)
  redis.call('HSET', state, 'round', current, 'parties', parties)
end
local endsMs = nowMs() + leaseMs
redis.call('ZADD', barrier, expiry(endsMs), id)
arrived = redis.call('ZCARD', barrier)
if arrived < parties then
  -- The keys must live as long as the longest lease of an arrival.
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
