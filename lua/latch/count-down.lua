--[[
  Counts a latch down by one; at zero it is open, and one message wakes those who await it.

  Safe to run twice: what a request came to is kept under its name for as long as it may still run. One that
  was asked for before this round began counts for nothing, for its own round is over. Where there is nothing to
  be counted nothing is kept.

  KEYS[1]  latch    string: what is left to be counted
  KEYS[2]  round    string: when the count was set
  KEYS[3]  request  string: what this request came to
  KEYS[4]  kind     string: which kind has set the number
  ARGV[1]  askedUs  server time at which it was asked for, at the latest, in µs; 0 is any
  ARGV[2]  untilUs  server time after which no copy of it is counted, in µs; 0 is never
  ARGV[3]  channel  where those who await the latch listen
  ARGV[4]  publish  PUBLISH or SPUBLISH

  Returns
    { 'counted', left }       what was left after it; 0 where there was nothing to be counted
    { 'over', setUs >= 1, serverTimeUs >= 1 }  not counted: the count was set at setUs, after it was asked for
    { 'forgotten', serverTimeUs >= 1 }  refused: it is later than untilUs, and nothing of it is remembered
]]
local latch, round, request, kind = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local askedUs, untilUs, channel, publish = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3], ARGV[4]

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
  return { 'counted', answer }
end
if not count then
  return { 'counted', 0 }
end
if isLate(untilUs) then
  return { 'forgotten', serverTimeText() }
end
local setUs = setAfter(round, askedUs)
if setUs then
  return { 'over', setUs, serverTimeText() }
end

local left = count - 1
if left > 0 then
  -- First: a full server refuses DECR, but not in a script that has written something already.
  redis.call('DEL', request)
  left = redis.call('DECR', latch)
  keepKind(kind)
else
  -- Redisson leaves no zero either, and nothing below it.
  redis.call('DEL', latch, round, kind)
end
if left < 0 then
  return { 'counted', 0 }
end
keepAnswer(request, left, untilUs)
if left == 0 then
  redis.call(publish, channel, '0')
end
return { 'counted', left }
