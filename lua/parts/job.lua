-- Included by the scripts of jobs, after parts/server-time.lua.
--
-- `job`   hash with an expiry: the last run. `token` and `owner` identify its hold of the lock. `state` is `running`,
--         `done`, `failed` or `crashed`. `startedUs` and `endedUs` are server times in µs. No other run begins before
--         the server time `untilUs`. `tick` is the scheduled time in ms, and `by` is the label of the client. `missed`
--         is the number of missed ticks before the run. `result` is JSON text, and `error` is a text. `foundBy` is the
--         token of the call that found the crash. `earlier` is the crashed run that this run has found, as a JSON list.
-- `runs`  list with an expiry: the last runs that have ended, each as a JSON list of the fields of its hash. The newest
--         run is first.

-- Keeps the keys for at least this long. They may have to last longer for a call with other options.
local function keepJob(job, runs, keepMs)
  for _, key in ipairs({ job, runs }) do
    redis.call('PEXPIRE', key, math.max(redis.call('PTTL', key), keepMs))
  end
end

-- Ends the last run, and adds it to the list. The list keeps at most `mostRuns` runs.
local function endRun(job, runs, keepMs, mostRuns, ...)
  redis.call('HSET', job, 'endedUs', serverTimeText(), ...)
  redis.call('HDEL', job, 'earlier')
  if mostRuns > 0 then
    redis.call('LPUSH', runs, cjson.encode(redis.call('HGETALL', job)))
    redis.call('LTRIM', runs, 0, mostRuns - 1)
  end
  keepJob(job, runs, keepMs)
end
