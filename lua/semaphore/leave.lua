--[[
  Ends the place of a client that does not wait for a semaphore any more. If this client was first, wakes the client
  that is next now.

  KEYS[1]  semaphore  string: how many permits are available
  KEYS[2]  queue      zset: client -> the server time in µs at which its wait began
  KEYS[3]  alive      hash: client -> the server time in ms until which its place counts, and the permits it wants
  KEYS[4]  kind       string: the kind of object that the number belongs to: `latch`, `permits` or `semaphore`
  ARGV[1]  client     the client that does not wait any more
  ARGV[2]  tickets    the channel that wakes the next client
  ARGV[3]  publish    PUBLISH or SPUBLISH

  Returns
    1  the client was first
    0  the client was not first
]]
local keys = { semaphore = KEYS[1], queue = KEYS[2], alive = KEYS[3], kind = KEYS[4] }
local client, tickets, publish = ARGV[1], ARGV[2], ARGV[3]

-- include: parts/server-time.lua

-- include: parts/waiting-clients.lua

-- include: parts/kind.lua

-- include: parts/available.lua

local available, refusal = availableIn(keys.semaphore, keys.kind, 'semaphore')
if not available then
  return refusal
end
local wasFirst = firstOf(keys) == client
waitsNoMore(keys, client)
if wasFirst then
  tellNext(keys, publish, tickets, available)
end
return wasFirst and 1 or 0
