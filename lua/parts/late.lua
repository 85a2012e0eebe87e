-- Included after parts/server-time.lua. True if a request came after its deadline. If the deadline is too far ahead,
-- the clock was set back, and the result is true too. The last three digits of `notAfterUs` limit how far ahead it may
-- be, in tenths of a second; 0 means no limit.
local function isLate(notAfterUs)
  if notAfterUs <= 0 then
    return false
  end
  local aheadUs, mostUs = notAfterUs - serverTimeUs(), notAfterUs % 1000 * 100000
  return aheadUs < 0 or mostUs > 0 and aheadUs > mostUs
end
