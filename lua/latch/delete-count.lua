--[[
  Deletes the count of a latch, which is open then, and wakes those who await it.

  Safe to run twice: what a request came to is kept under its name for as long as it may still run. A call that names
  its round deletes the count of that round only. Any other call does not delete a count that was set after the call.

  KEYS[1]  latch      string: what is left to be counted
  KEYS[2]  round      string: when the count was set
  KEYS[3]  request    string: what this request came to
  KEYS[4]  kind       string: which kind has set the number
  ARGV[1]  askedUs    server time at which it was asked for, in µs; 0 is any
  ARGV[2]  untilUs    server time after which no copy of it is done, in µs; 0 is never
  ARGV[3]  channel    where those who await the latch listen
  ARGV[4]  publish    PUBLISH or SPUBLISH
  ARGV[5]  ownRound?  number: the only round whose count is deleted

  Returns
    { 'done', isDeleted: 1 or 0 }  whether there was a count
    { 'over', setUs: number or '' as 0, serverTimeUs >= 1 }  not deleted: its round is over; setUs is when this one began
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
  return { 'done', answer }
end
-- It deletes nothing. A replica refuses it, because it may not have received the count yet.
redis.call('DEL', request)
if isLate(untilUs) then
  return { 'forgotten', serverTimeText() }
end
local setUs = count and redis.call('GET', round)
if isOfOtherRound(setUs, ownRound, askedUs) then
  return { 'over', setUs or '', serverTimeText() }
end
redis.call('DEL', latch, round, kind)
-- Also where there was none: a copy that comes when the count is set anew must not delete it.
keepAnswer(request, count and '1' or '0', untilUs)
if count then
  redis.call(publish, channel, '1')
end
return { 'done', count and '1' or '0' }
