-- Deletes the stored results of answered requests, because the client does not repeat these requests.
local function forget(...)
  if select('#', ...) > 0 then
    redis.call('DEL', ...)
  end
end
