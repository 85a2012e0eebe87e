-- The server's time in µs: for all that one request does, that of the first who asked.
local time, firstUs, firstText
local function serverTimeUs()
  if not firstUs then
    time = redis.call('TIME')
    firstUs = time[1] * 1000000 + time[2]
  end
  return firstUs
end

-- The same as a string: quicker than to format the number.
local function serverTimeText()
  if not firstText then
    serverTimeUs()
    firstText = time[1] .. string.sub('00000' .. time[2], -6)
  end
  return firstText
end
