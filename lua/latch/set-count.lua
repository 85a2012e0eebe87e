--[[
  Sets the count of a latch that is open, and so begins a round.

  Safe to run twice: what a request came to is kept under its name for as long as it may still run.

  KEYS[1]  latch    string: what is left to be counted
  KEYS[2]  round    string: when the count was set
  KEYS[3]  request  string: what this request came to
  KEYS[4]  kind     string: which kind has set the number
  ARGV[1]  count    number: from 1 up
  ARGV[2]  untilUs  server time after which no copy of it is done, in µs; 0 is never
  ARGV[3]  channel  where those who await the latch listen
  ARGV[4]  publish  PUBLISH or SPUBLISH

  Returns
    { 'done', isSet: 1 or 0 }  whether this request set it; 0 where there is a count
    { 'forgotten', serverTimeUs >= 1 }  refused: it is later than untilUs, and nothing of it is remembered
]]
local latch, round, request, kind = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local count, untilUs, channel, publish = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]

-- include: parts/server-time.lua

-- include: parts/late.lua

-- include: parts/once.lua

-- include: parts/kind.lua

-- include: parts/latch.lua

local before = countOf(latch, kind)
if type(before) == 'table' then
  return before
end
local answer = answerTo(request)
if answer then
  return { 'done', answer }
end
if isLate(untilUs) then
  return { 'forgotten', serverTimeText() }
end
if before then
  -- Also this: a copy that comes when the latch has opened must not set it.
  keepAnswer(request, '0', untilUs)
  return { 'done', '0' }
end
redis.call('SET', latch, count)
redis.call('SET', round, serverTimeText(), 'PX', ROUND_MS)
noteKind(kind, 'latch')
keepAnswer(request, '1', untilUs)
redis.call(publish, channel, '1')
return { 'done', '1' }
