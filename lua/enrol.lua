--[[
  Tells since when a master may vote. One that was started anew may have forgotten leases that run:
  it votes when the longest of them would be over, as the Redlock page has it ("delayed restarts").

  Safe to run twice, and by many clients: the first of them decides for a process of the server.

  KEYS[1]  birth    string: `<since when it votes, µs> <runId> <durable>`; the one key without an
                    expiry
  ARGV[1]  runId    the id of the server's process, as INFO tells it
  ARGV[2]  restMs   how long the longest lease may be, in milliseconds
  ARGV[3]  durable  1 when the server has written everything to disk before it answered
  ARGV[4]  newborn  1 when none of the masters has ever been used

  Returns
    since when it votes, server time in µs
]]
-- include: parts/server-time.lua

local birth, runId, restMs = KEYS[1], ARGV[1], tonumber(ARGV[2])
local durable, newborn = ARGV[3] == '1', ARGV[4] == '1'

local sinceUs, bornAs, wasDurable = string.match(redis.call('GET', birth) or '', '^(%d+) (%S*) (%d)$')
if bornAs == runId then
  return sinceUs
end
-- What was written before the answer is there again, with the mark; else anything may be gone.
if not (wasDurable == '1' and durable) then
  local rests = bornAs or not newborn
  sinceUs = string.format('%.0f', serverTimeUs() + (rests and restMs * 1000 or 0))
end
redis.call('SET', birth, sinceUs .. ' ' .. runId .. (durable and ' 1' or ' 0'))
return sinceUs
