--[[
  Nobody of a client waits for a semaphore any more: its place is free, and whoever is next by that is told.

  KEYS[1]  semaphore  string: how many permits are available
  KEYS[2]  queue      zset: client -> since when it waits, server time in µs
  KEYS[3]  alive      hash: client -> until when that counts, and how many permits are wanted
  KEYS[4]  kind       string: which kind has set the number
  ARGV[1]  client     that client
  ARGV[2]  tickets    the channel on which clients are told that it is their turn
  ARGV[3]  publish    PUBLISH or SPUBLISH

  Returns
    1  it had been the first of those who wait
    0  it had not
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
