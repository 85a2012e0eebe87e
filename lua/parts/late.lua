-- Included after parts/server-time.lua. True if a request came after its deadline `notAfterUs`; 0 means no limit. The
-- last three digits of `notAfterUs` say how far the deadline may be ahead of now, in tenths of a second. A deadline
-- further ahead also counts as late, because the clock was set back.
local function isLate(notAfterUs)
  if notAfterUs <= 0 then
    return false
  end
  local aheadUs, mostUs = notAfterUs - serverTimeUs(), notAfterUs % 1000 * 100000
  return aheadUs < 0 or mostUs > 0 and aheadUs > mostUs
end
