--[[
  Tells who a client is, and what it notes of its owners, for other clients to read. No lock depends on it.

  Safe to run twice: a repeat writes the same.

  KEYS[1]  client   hash: `about` -> who the client is, `note/<owner>` -> a line about what that owner has
  ARGV[1]  leaseMs  how long it is kept from now, in milliseconds
  ARGV[2]  about    who the client is, as JSON
  ARGV[*]  notes    { owner, note: text or '' }[]: the lines that have changed; '' takes one away

  Returns
    nothing that is of use
]]
local client, leaseMs, about = KEYS[1], ARGV[1], ARGV[2]

local set, gone = { 'about', about }, {}
for i = 3, #ARGV, 2 do
  local field, note = 'note/' .. ARGV[i], ARGV[i + 1]
  if note == '' then
    gone[#gone + 1] = field
  else
    set[#set + 1] = field
    set[#set + 1] = note
  end
end
redis.call('HSET', client, unpack(set))
redis.call('PEXPIRE', client, leaseMs)
if #gone > 0 then
  redis.call('HDEL', client, unpack(gone))
end
