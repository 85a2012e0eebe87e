-- Included after parts/read-write.lua. Returns the holder of a lock, for the scripts `peek` and `inspect`.
local function peek(lock, counter)
  local fields = redis.call('HGETALL', lock)
  for i = 1, #fields, 2 do
    if fields[i] == 'mode' then
      return redis.error_reply(READ_WRITE)
    end
  end
  return {
    fields[1] or '',
    fields[2] or '0',
    redis.call('PTTL', lock),
    redis.call('GET', counter) or '',
  }
end
