-- Included after parts/server-time.lua. True if a request came after its deadline. Also true if the deadline is too far
-- ahead, because then the clock was set back. The last three digits of `notAfterUs` are the limit for that, in tenths
-- of a second; 0 means no limit.
local function isLate(notAfterUs)
  if notAfterUs <= 0 then
    return false
  end
  local aheadUs, mostUs = notAfterUs - serverTimeUs(), notAfterUs % 1000 * 100000
  return aheadUs < 0 or mostUs > 0 and aheadUs > mostUs
end
