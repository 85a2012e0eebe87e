--[[
  Returns the holder of the lock, at the same cost for any number of waiters. Changes nothing.

  KEYS[1]  lock     hash: owner -> hold count
  KEYS[2]  counter  string: the last fencing token issued for this lock

  Returns
    { holder: text or '' as null, holds, ttlMs >= -2, token: number or '' as null }  holder is '' if the lock is free,
                             ttlMs is the answer of PTTL, token is '' if there is none
]]
-- include: parts/read-write.lua

-- include: parts/peek.lua

return peek(KEYS[1], KEYS[2])
