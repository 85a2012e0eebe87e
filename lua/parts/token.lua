-- Returns the next token: above the last token, at least the floor, and then `reserve` higher. So the owner gets
-- `reserve` more tokens below this token. The floor is the server time if tokens may have been forgotten.
local function nextToken(last, floorUs, reserve)
  return string.format('%.0f', math.max((tonumber(last) or 0) + 1, floorUs) + reserve)
end
