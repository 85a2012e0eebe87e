--[[
  Stores the identity of a client and the notes about its owners, for other clients to read. No lock depends on this
  data.

  Safe to run twice: a repeat writes the same.

  KEYS[1]  client   hash: `about` -> the identity of the client, `at` -> when the client last reported itself,
                    `note/<owner>` -> a line about what that owner holds
  ARGV[1]  leaseMs  how long the hash is kept from now, in milliseconds
  ARGV[2]  about    the identity of the client, as JSON
  ARGV[3]  clockMs  the time on the clock of the client, in milliseconds since 1970
  ARGV[*]  notes    { owner, note: text or '' }[]: the notes that have changed; '' deletes a note

  Returns
    nothing; the caller ignores the reply
]]
local client, leaseMs, about, clockMs = KEYS[1], ARGV[1], ARGV[2], ARGV[3]

-- The present time by the clock of the server and by the clock of the client, in ms. With these two times, readers can
-- convert times in the notes.
local time = redis.call('TIME')
local at = time[1] .. string.sub('00' .. math.floor(time[2] / 1000), -3) .. ' ' .. clockMs
local set, gone = { 'about', about, 'at', at }, {}
for i = 4, #ARGV, 2 do
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
