-- Included after parts/server-time.lua. Whether a request came too late: after the time that it was
-- given, or by a clock that was set back meanwhile, which shows in a time that is too far ahead. The last
-- three digits of `notAfterUs` say how far it may be, in tenths of a second; 0 is any.
local function isLate(notAfterUs)
  if notAfterUs <= 0 then
    return false
  end
  local aheadUs, mostUs = notAfterUs - serverTimeUs(), notAfterUs % 1000 * 100000
  return aheadUs < 0 or mostUs > 0 and aheadUs > mostUs
end
