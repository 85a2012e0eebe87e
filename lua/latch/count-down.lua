--[[
  Counts a latch down by one; at zero it is open, and one message wakes those who await it.

  Safe to run twice: what a request came to is kept under its name for as long as it may still run. A call that names
  its round counts in that round only. Any other call that was made before this round began counts for nothing,
  because its own round is over. If there is nothing to be counted nothing is kept.

  KEYS[1]  latch      string: what is left to be counted
  KEYS[2]  round      string: when the count was set
  KEYS[3]  request    string: what this request came to
  KEYS[4]  kind       string: which kind has set the number
  ARGV[1]  askedUs    server time at which it was asked for, in µs; 0 is any
  ARGV[2]  untilUs    server time after which no copy of it is counted, in µs; 0 is never
  ARGV[3]  channel    where those who await the latch listen
  ARGV[4]  publish    PUBLISH or SPUBLISH
  ARGV[5]  ownRound?  number: the only round in which it counts

  Returns
    { 'counted', left, round: number or '' as null }  what was left after it, and in which round; 0 and '' where there
                                                      was nothing to be counted
    { 'over', setUs: number or '' as 0, serverTimeUs >= 1 }  not counted: its round is over; setUs is when this one began
    { 'forgotten', serverTimeUs >= 1 }  refused: it is later than untilUs, and nothing of it is remembered
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
-- It deletes nothing. A replica refuses it, because it may not have received the count yet. And a full server refuses
-- DECR, but not in a script that has written something already.
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
  -- Redisson leaves no zero either, and nothing below it.
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
