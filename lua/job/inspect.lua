--[[
  Returns the last runs of a job. Changes nothing.

  KEYS[1]  lock  hash: owner -> hold count
  KEYS[2]  job   hash: the last run
  KEYS[3]  runs  list: the last ended runs
  ARGV[1]  most  number: how many ended runs are returned at most

  Returns
    { isHeld: 1 or 0, nowUs, run: pairs, runs: pairs }  `isHeld` is 1 if the owner of the last run holds the lock. `run`
                             has the fields of the last run. In `runs`, each pair is a number from 1 and an ended run
]]
local lock, job, runs, most = KEYS[1], KEYS[2], KEYS[3], tonumber(ARGV[1])

-- include: parts/server-time.lua

local owner = redis.call('HGET', job, 'owner')
local isHeld = owner and redis.call('HEXISTS', lock, owner) or 0
local list = {}
if most > 0 then
  for i, run in ipairs(redis.call('LRANGE', runs, 0, most - 1)) do
    list[#list + 1] = tostring(i)
    list[#list + 1] = run
  end
end
return { isHeld, serverTimeText(), redis.call('HGETALL', job), list }
