--[[
  Sets the count of an open latch. This begins a round.

  Safe to run twice: the result of a request is stored under its name as long as a copy of the request may run.

  KEYS[1]  latch    string: the remaining count
  KEYS[2]  round    string: the server time in µs at which the count was set
  KEYS[3]  request  string: the result of this request
  KEYS[4]  kind     string: the kind of object that the number belongs to: `latch`, `permits` or `semaphore`
  ARGV[1]  count    number: at least 1
  ARGV[2]  untilUs  server time after which no copy of the request runs, in µs; 0 means no limit
  ARGV[3]  channel  the channel of the awaiters of the latch
  ARGV[4]  publish  PUBLISH or SPUBLISH

  Returns
    { 'done', isSet: 1 or 0 }  1 if this request set the count; 0 if the latch has a count already
    { 'forgotten', serverTimeUs >= 1 }  refused: the server time is after untilUs, and no result is stored
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
  -- The result 0 is stored too, so that a late copy of the request does not set the count after the latch has opened.
  keepAnswer(request, '0', untilUs)
  return { 'done', '0' }
end
redis.call('SET', latch, count)
redis.call('SET', round, serverTimeText(), 'PX', ROUND_MS)
noteKind(kind, 'latch')
keepAnswer(request, '1', untilUs)
redis.call(publish, channel, '1')
return { 'done', '1' }
