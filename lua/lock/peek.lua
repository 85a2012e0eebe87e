--[[
  Tells who holds the lock, at the same cost however many wait for it, and changes nothing.

  KEYS[1]  lock     hash: owner -> hold count
  KEYS[2]  counter  string: the last fencing token issued for this lock

  Returns
    { holder: text or '' as null, holds, ttlMs >= -2, token: number or '' as null }
                             holder is '' when the lock is free, ttlMs as PTTL answers it, token '' when
                             there is none
]]
-- include: parts/read-write.lua

-- include: parts/peek.lua

return peek(KEYS[1], KEYS[2])
