--[[
  Runs `acquire` and `release` for many locks in one request, one after the other. What becomes of
  one of them is nothing to the others.

  Safe to run twice, as each of them is.

  KEYS[*]  both   the two keys of each call, one call after the other
  ARGV[*]  calls  of each call: the name of its script, and eight arguments, '' where it has fewer

  Returns
    for each call what its script returns, or { 'error', message }
]]
-- include: parts/counter.lua

-- include: parts/read-write.lua

-- include: parts/acquire.lua

-- include: parts/release.lua

local scripts = { acquire = acquire, release = release }
local replies = {}
for n = 1, #KEYS / 2 do
  local lock, counter = KEYS[2 * n - 1], KEYS[2 * n]
  local run = scripts[ARGV[9 * n - 8]]
  local done, reply = pcall(run, lock, counter, unpack(ARGV, 9 * n - 7, 9 * n))
  if not done or reply.err then
    reply = { 'error', type(reply) == 'table' and reply.err or tostring(reply) }
  end
  replies[n] = reply
end
return replies
