-- The token after the last one: no less than the floor, which is the server's time where tokens may have
-- been forgotten; and with so many below it that are new as well.
local function nextToken(last, floorUs, reserve)
  return string.format('%.0f', math.max((tonumber(last) or 0) + 1, floorUs) + reserve)
end
