--[[
  Runs `acquire` and `release` for many locks in one request, one after the other. What becomes of
  one of them is nothing to the others.

  Safe to run twice, as each of them is.

  KEYS[*]  both   the two keys of each call, one call after the other
  ARGV[*]  calls  of each call: the name of its script, the number of its arguments, and these

  Returns
    for each call what its script returns, or { 'error', message }; but the token alone for
    { 'granted', token }, and the number alone for { 'freed', listeners }
]]
-- include: parts/counter.lua

-- include: parts/read-write.lua

-- include: parts/acquire.lua

-- include: parts/release.lua

local scripts = { acquire = acquire, release = release }
local replies = {}
local at = 1
for n = 1, #KEYS / 2 do
  local lock, counter, name = KEYS[2 * n - 1], KEYS[2 * n], ARGV[at]
  local last = at + 1 + tonumber(ARGV[at + 1])
  local done, reply = pcall(scripts[name], lock, counter, unpack(ARGV, at + 2, last))
  at = last + 1
  if not done or reply.err then
    reply = { 'error', type(reply) == 'table' and reply.err or tostring(reply) }
  end
  -- In short, for reading two parts and a list takes a client three times as long as one part: a
  -- string is a token, a number counts listeners.
  local isUsual = reply[1] == 'granted' and not reply[3] or reply[1] == 'freed'
  replies[n] = isUsual and reply[2] or reply
end
return replies
