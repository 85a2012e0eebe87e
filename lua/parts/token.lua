-- Returns the next token: above the last token, at least the floor, and `reserve` higher still. So `reserve` new tokens
-- lie below it. The floor is the server's time if tokens may have been forgotten.
local function nextToken(last, floorUs, reserve)
  return string.format('%.0f', math.max((tonumber(last) or 0) + 1, floorUs) + reserve)
end
