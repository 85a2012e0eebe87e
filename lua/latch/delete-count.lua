--[[
  Deletes the count of a latch, which opens the latch, and wakes its awaiters.

  Safe to run twice: the result of a request is stored under its name as long as a copy of the request may run. A call
  that names its round deletes the count of that round only. Any other call does not delete a count that was set after
  the call.

  KEYS[1]  latch      string: the remaining count
  KEYS[2]  round      string: the server time in µs at which the count was set
  KEYS[3]  request    string: the result of this request
  KEYS[4]  kind       string: the kind of object that the number belongs to: `latch`, `permits` or `semaphore`
  ARGV[1]  askedUs    server time at which the caller asked, in µs; 0 means any time
  ARGV[2]  untilUs    server time after which no copy of the request runs, in µs; 0 means no limit
  ARGV[3]  channel    the channel of the awaiters of the latch
  ARGV[4]  publish    PUBLISH or SPUBLISH
  ARGV[5]  ownRound?  number: the only round whose count is deleted

  Returns
    { 'done', isDeleted: 1 or 0 }  1 if there was a count
    { 'over', setUs: number or '' as 0, serverTimeUs >= 1 }  not deleted: the round of the call is over; setUs is
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
  return { 'done', answer }
end
-- This DEL deletes nothing, but makes a replica refuse the script. A replica may not have received the count yet.
redis.call('DEL', request)
if isLate(untilUs) then
  return { 'forgotten', serverTimeText() }
end
local setUs = count and redis.call('GET', round)
if isOfOtherRound(setUs, ownRound, askedUs) then
  return { 'over', setUs or '', serverTimeText() }
end
redis.call('DEL', latch, round, kind)
-- The result 0 is stored too, so that a late copy of the request does not delete a later count.
keepAnswer(request, count and '1' or '0', untilUs)
if count then
  redis.call(publish, channel, '1')
end
return { 'done', count and '1' or '0' }
