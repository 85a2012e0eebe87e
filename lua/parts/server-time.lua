-- Returns the server time in µs since 1970. The time is read once for each run of the script.
local time, firstUs, firstText
local function serverTimeUs()
  if not firstUs then
    time = redis.call('TIME')
    firstUs = time[1] * 1000000 + time[2]
  end
  return firstUs
end

-- Returns the same time as a text. This is faster than formatting the number.
local function serverTimeText()
  if not firstText then
    serverTimeUs()
    firstText = time[1] .. string.sub('00000' .. time[2], -6)
  end
  return firstText
end
