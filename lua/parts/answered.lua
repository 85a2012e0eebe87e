-- Deletes the stored results of requests whose answers the client has received. The client does not repeat these
-- requests.
local function forget(...)
  if select('#', ...) > 0 then
    redis.call('DEL', ...)
  end
end
