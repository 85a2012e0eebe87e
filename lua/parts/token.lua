-- Returns the next token. If `reserve` is 0, this is the last token plus 1, or the floor if the floor is higher.
-- Otherwise, the token is higher by `reserve`, and the tokens in between also belong to the owner. The floor is the
-- server time if the counter may have been lost.
local function nextToken(last, floorUs, reserve)
  return string.format('%.0f', math.max((tonumber(last) or 0) + 1, floorUs) + reserve)
end
