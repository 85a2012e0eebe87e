-- The next token: above the last one, and at least the floor, plus `reserve`. So `reserve` new tokens lie below it. The
-- floor is the server's time if tokens may have been forgotten.
local function nextToken(last, floorUs, reserve)
  return string.format('%.0f', math.max((tonumber(last) or 0) + 1, floorUs) + reserve)
end
