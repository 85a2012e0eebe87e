-- Wakes the first live waiter of Redisson's fair lock. With redis.pcall, an error of Redisson's keys does not stop the
-- script.
local function wakeJava(javaQueue, javaTimeouts, nowUs, publish, channel)
  for _, java in ipairs(redis.pcall('LRANGE', javaQueue, 0, 99)) do
    local diesAt = tonumber(redis.pcall('ZSCORE', javaTimeouts, java))
    if not diesAt or diesAt * 1000 > nowUs then
      redis.call(publish, channel .. ':' .. java, '0')
      break
    end
  end
end
