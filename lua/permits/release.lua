--[[
  Releases the permits that an owner holds, and wakes the next client.

  Safe to run twice: a permit that the owner does not hold any more is not released. Expired permits become available
  by themselves.

  KEYS[1]  pool      string: how many permits are available
  KEYS[2]  timeouts  zset: id of a permit -> the server time in ms at which its lease ends
  KEYS[3]  queue     zset: client -> the server time in µs at which its wait began
  KEYS[4]  alive     hash: client -> the server time in ms until which its place counts, and the permits it wants
  KEYS[5]  holders   hash: the first 24 hex digits of an id -> the owner of the permit, and when its hold began, in µs
  KEYS[6]  kind      string: the kind of object that the number belongs to: `latch`, `permits` or `semaphore`
  ARGV[1]  owner     `<clientId>:<owner>:<permits>`; '' if the request only ends the place of the client
  ARGV[2]  channel   the channel on which Redisson's clients learn how many permits are available
  ARGV[3]  publish   PUBLISH or SPUBLISH
  ARGV[4]  tickets   the channel that wakes the next client
  ARGV[5]  client    the client if none of its calls waits any more; '' if a call may still wait

  Returns
    { 'freed' }  the owner held all its permits until now
    { 'gone' }   the owner did not hold all its permits; the script released the permits that it held
]]
local keys = {
  pool = KEYS[1], timeouts = KEYS[2], queue = KEYS[3], alive = KEYS[4], holders = KEYS[5], kind = KEYS[6],
}
local owner, channel, publish, tickets, client = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

-- include: parts/server-time.lua

-- include: parts/waiting-clients.lua

-- include: parts/kind.lua

-- include: parts/available.lua

-- include: parts/permits.lua

-- include: parts/release-leased-permits.lua

local available, refusal = availableIn(keys.pool, keys.kind, 'permits')
if not available then
  return refusal
end
local wasTaken, becameAvailable
if owner == '' then
  local expired = giveBackExpired(keys)
  available, becameAvailable = available + expired, expired > 0
else
  available, wasTaken, becameAvailable = releaseLeased(keys, owner, available)
end
if client ~= '' then
  waitsNoMore(keys, client)
end
if becameAvailable then
  tellOthers(publish, channel, available)
end
tellNext(keys, publish, tickets, available)
return { wasTaken and 'freed' or 'gone' }
