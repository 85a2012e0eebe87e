--[[
  Begins a run of a job, if no earlier run serves the call. The caller holds the lock of the job.

  The token fences the run: a caller that has lost the lock begins nothing. A run that is still stored as running has
  crashed, because its owner does not hold the lock any more. Safe to run twice: the second answer is the same. A copy
  that runs after the end of its run begins nothing.

  KEYS[1]  lock      hash: owner -> hold count
  KEYS[2]  job       hash: the last run
  KEYS[3]  runs      list: the last ended runs
  ARGV[1]  owner     the owner that holds the lock
  ARGV[2]  token     number: the token of its hold
  ARGV[3]  by        the label of the client
  ARGV[4]  atLeastMs  no other run begins for this long after the start, in milliseconds
  ARGV[5]  everyMs   the interval of the schedule, in milliseconds; 0 means unknown
  ARGV[6]  tick      number or '': the scheduled time in ms since 1970; '' means unknown
  ARGV[7]  repeats   1 or '': 1 if a run that crashed is repeated
  ARGV[8]  waitedMs  how long ago the caller asked for the run, in milliseconds
  ARGV[9]  keepMs    how long the record of the job is kept, in milliseconds
  ARGV[10]  mostRuns  number: how many ended runs are kept at most

  Returns
    { 'begun', startedUs >= 1, missed, earlier: pairs }  the run begins; `earlier` is a run that has crashed, or empty
    { 'served', isNews: 1 or 0, run: pairs }             an earlier run serves the call; `isNews` is 1 if this call
                                                         found that the earlier run had crashed
    { 'lost' }                                           the owner does not hold the lock, or its run has ended
]]
local lock, job, runs = KEYS[1], KEYS[2], KEYS[3]
local owner, token, by = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local atLeastMs, everyMs, tick = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local repeats, waitedMs, keepMs, mostRuns = ARGV[7] == '1', tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10])

-- include: parts/server-time.lua

-- include: parts/job.lua

local function microseconds(number)
  return string.format('%.0f', number)
end

if redis.call('HEXISTS', lock, owner) == 0 then
  return { 'lost' }
end
-- A replica refuses this write. A replica may not have received the last run yet.
keepJob(job, runs, keepMs)
local last = redis.call('HMGET', job, 'token', 'state', 'startedUs', 'endedUs', 'untilUs', 'tick', 'missed',
  'foundBy', 'earlier')
local lastToken, state = tonumber(last[1] or 0), last[2]
local lastStartedUs, endedUs, untilUs = tonumber(last[3] or 0), tonumber(last[4] or 0), tonumber(last[5] or 0)
local lastTick = tonumber(last[6] or '')
if lastToken == token and state == 'running' then
  return { 'begun', last[3], last[7], last[9] and cjson.decode(last[9]) or {} }
end
if lastToken >= token then
  return { 'lost' }
end

-- If the clock of the server was set back, the last run counts as if it began or ended now. Otherwise this run would
-- serve all calls until the clock reaches its time again.
local aheadUs = math.max(lastStartedUs, endedUs) - serverTimeUs()
if aheadUs > 0 then
  lastStartedUs, untilUs = lastStartedUs - aheadUs, untilUs - aheadUs
  redis.call('HSET', job, 'startedUs', microseconds(lastStartedUs), 'untilUs', microseconds(untilUs))
  if endedUs > 0 then
    endedUs = endedUs - aheadUs
    redis.call('HSET', job, 'endedUs', microseconds(endedUs))
  end
end

local isNews = state == 'running' or state == 'crashed' and last[8] == ARGV[2]
if state == 'running' then
  state = 'crashed'
  endRun(job, runs, keepMs, mostRuns, 'state', state, 'foundBy', ARGV[2])
end
local repeated = state == 'crashed' and repeats
-- The call counts from when the caller asked, because the caller may have waited while the last run took its time.
local askedUs = serverTimeUs() - waitedMs * 1000
local isServed
if repeated then
  isServed = false
elseif tick and lastTick then
  isServed = tick <= lastTick
else
  isServed = askedUs < untilUs or state ~= 'crashed' and askedUs < endedUs
end
if isServed then
  return { 'served', isNews and 1 or 0, redis.call('HGETALL', job) }
end

local earlier = isNews and redis.call('HGETALL', job) or {}
local missed = 0
if everyMs > 0 and lastStartedUs > 0 then
  local intervals = (serverTimeUs() - lastStartedUs) / 1000 / everyMs
  missed = math.max(0, math.floor(intervals + 0.5) - 1)
end
-- A repeated run also serves the tick of the run that crashed. So its time counts from its call, which does not delay
-- the next tick.
local ownUntilUs = (repeated and askedUs or serverTimeUs()) + atLeastMs * 1000
if repeated then
  ownUntilUs = math.max(ownUntilUs, untilUs)
end
redis.call('DEL', job)
redis.call('HSET', job, 'token', ARGV[2], 'owner', owner, 'by', by, 'state', 'running')
redis.call('HSET', job, 'startedUs', serverTimeText(), 'untilUs', microseconds(ownUntilUs), 'missed', missed)
if repeated and lastTick and not (tick and tick > lastTick) then
  redis.call('HSET', job, 'tick', last[6])
elseif tick then
  redis.call('HSET', job, 'tick', ARGV[6])
end
if everyMs > 0 then
  redis.call('HSET', job, 'everyMs', ARGV[5])
end
if isNews then
  redis.call('HSET', job, 'earlier', cjson.encode(earlier))
end
keepJob(job, runs, keepMs)
return { 'begun', serverTimeText(), missed, earlier }
