--[[
  Counts a latch down by one. At zero the latch is open, and one message wakes its awaiters.

  Safe to run twice: the result of a request is stored under its name as long as a copy of the request may run. A call
  that names its round counts in that round only. Any other call is too late if it was made before the current round
  began. If nothing is counted, nothing is stored.

  KEYS[1]  latch      string: the remaining count
  KEYS[2]  round      string: the server time in µs at which the count was set
  KEYS[3]  request    string: the result of this request
  KEYS[4]  kind       string: the kind of object that the number belongs to: `latch`, `permits` or `semaphore`
  ARGV[1]  askedUs    server time at which the caller asked, in µs; 0 means any time
  ARGV[2]  untilUs    server time after which no copy of the request counts, in µs; 0 means no limit
  ARGV[3]  channel    the channel of the awaiters of the latch
  ARGV[4]  publish    PUBLISH or SPUBLISH
  ARGV[5]  ownRound?  number: the only round in which the call counts

  Returns
    { 'counted', left, round: number or '' as null }  the count after the call, and the round; 0 and '' if no count was
                                                      set
    { 'over', setUs: number or '' as 0, serverTimeUs >= 1 }  not counted: the round of the call is over; setUs is
                             when the current round began
    { 'forgotten', serverTimeUs >= 1 }  refused: the server time is after untilUs, and no result is stored
]]
local latch, round, request, kind = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local askedUs, untilUs, channel, publish = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3], ARGV[4]
local ownRound = ARGV[5]

-- include: parts/server-time.lua

-- include: parts/late.lua

-- include: parts/once.lua

-- include: parts/kind.lua

-- include: parts/latch.lua

local count = countOf(latch, kind)
if type(count) == 'table' then
  return count
end
local answer = answerTo(request)
if answer then
  local leftThen, roundThen = string.match(answer, '^(%d+) ?(%d*)$')
  return { 'counted', leftThen, roundThen }
end
-- This DEL deletes nothing, but makes a replica refuse the script. A replica may not have received the count yet. A
-- server with full memory refuses DECR as the first write of a script, but accepts DECR after the DEL.
redis.call('DEL', request)
if not count and not ownRound then
  return { 'counted', 0, '' }
end
if isLate(untilUs) then
  return { 'forgotten', serverTimeText() }
end
local setUs = count and redis.call('GET', round)
if isOfOtherRound(setUs, ownRound, askedUs) then
  return { 'over', setUs or '', serverTimeText() }
end

local left = count - 1
if left > 0 then
  left = redis.call('DECR', latch)
  keepKind(kind)
else
  -- Redisson deletes the count at zero too.
  redis.call('DEL', latch, round, kind)
end
if left < 0 then
  return { 'counted', 0, '' }
end
keepAnswer(request, left .. ' ' .. (setUs or ''), untilUs)
if left == 0 then
  redis.call(publish, channel, '0')
end
return { 'counted', left, setUs or '' }
