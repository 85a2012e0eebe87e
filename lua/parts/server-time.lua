-- The server's time in µs, as a number and as a string: for all that one request does, that of the
-- first who asked. To write it down as a token is most of what an acquisition computes.
local firstUs, firstText
local function serverTimeUs()
  if not firstUs then
    local time = redis.call('TIME')
    firstUs = time[1] * 1000000 + time[2]
    firstText = time[1] .. string.sub('00000' .. time[2], -6)
  end
  return firstUs, firstText
end
