-- Deletes the stored results that the client has received, because the client does not repeat these requests.
local function forget(...)
  if select('#', ...) > 0 then
    redis.call('DEL', ...)
  end
end
