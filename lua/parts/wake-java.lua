-- Wakes the first who queues in Redisson's fair lock and is not dead. What is wrong with the keys of others must not
-- cost anybody the rest.
local function wakeJava(javaQueue, javaTimeouts, nowUs, publish, channel)
  for _, java in ipairs(redis.pcall('LRANGE', javaQueue, 0, 99)) do
    local diesAt = tonumber(redis.pcall('ZSCORE', javaTimeouts, java))
    if not diesAt or diesAt * 1000 > nowUs then
      redis.call(publish, channel .. ':' .. java, '0')
      break
    end
  end
end
