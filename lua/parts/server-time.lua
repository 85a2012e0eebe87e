-- The server's time in µs. It is read once for each request.
local time, firstUs, firstText
local function serverTimeUs()
  if not firstUs then
    time = redis.call('TIME')
    firstUs = time[1] * 1000000 + time[2]
  end
  return firstUs
end

-- The same time as a text, because formatting the number is slower.
local function serverTimeText()
  if not firstText then
    serverTimeUs()
    firstText = time[1] .. string.sub('00000' .. time[2], -6)
  end
  return firstText
end
