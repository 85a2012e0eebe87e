-- The requests whose answers have been heard are not sent again.
local function forget(...)
  if select('#', ...) > 0 then
    redis.call('DEL', ...)
  end
end
