--[[
  Stores how a run of a job ended. Safe to run twice.

  KEYS[1]  job      hash: the last run
  KEYS[2]  runs     list: the last ended runs
  ARGV[1]  token    number: the token of the run
  ARGV[2]  state    `done` or `failed`
  ARGV[3]  result   JSON text; '' for no result
  ARGV[4]  error    the error as a text; '' for no error
  ARGV[5]  forgets  1 or '': 1 if the run serves no call, so that another run may begin at once
  ARGV[6]  keepMs   how long the record of the job is kept, in milliseconds
  ARGV[7]  mostRuns  number: how many ended runs are kept at most

  Returns
    { 'stored', durationMs }  the outcome is stored, by this run of the script or an earlier one
    { 'replaced' }            nothing is stored: another run has begun, or the record is gone
]]
local job, runs = KEYS[1], KEYS[2]
local token, state, result, error, forgets = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5] == '1'
local keepMs, mostRuns = tonumber(ARGV[6]), tonumber(ARGV[7])

-- include: parts/server-time.lua

-- include: parts/job.lua

local last = redis.call('HMGET', job, 'token', 'state', 'startedUs', 'endedUs')
if last[1] ~= token then
  return { 'replaced' }
end
local endedUs = tonumber(last[4] or 0)
if last[2] == 'running' or last[2] == 'crashed' then
  local fields = { 'state', state }
  for name, text in pairs({ result = result, error = error }) do
    if text ~= '' then
      fields[#fields + 1], fields[#fields + 2] = name, text
    end
  end
  -- If another call has taken the run for crashed, the list has its entry already.
  if last[2] == 'crashed' then
    redis.call('LPOP', runs)
  end
  endRun(job, runs, keepMs, mostRuns, unpack(fields))
  endedUs = serverTimeUs()
end
if forgets then
  -- The token stays, so a late copy of the request that began this run begins nothing.
  redis.call('HSET', job, 'untilUs', 0)
  redis.call('HDEL', job, 'endedUs')
end
return { 'stored', math.max(0, math.floor((endedUs - tonumber(last[3])) / 1000)) }
