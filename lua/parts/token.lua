-- The token after the last one, but at least the floor. It has `reserve` new tokens below it. The floor is the server's
-- time if tokens may have been forgotten.
local function nextToken(last, floorUs, reserve)
  return string.format('%.0f', math.max((tonumber(last) or 0) + 1, floorUs) + reserve)
end
