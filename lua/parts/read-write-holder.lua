-- Included after parts/server-time.lua.

-- One who has it, and for how long, in ms: of one who writes its token tells, which is the time when it was issued;
-- of those who read that of the last writer, so nothing. What is wrong with the counter must not cost anybody the answer.
local function holderOf(keys, mode)
  for _, field in ipairs(redis.call('HRANDFIELD', keys.lock, 2)) do
    if field ~= 'mode' then
      local last = mode == 'write' and tonumber(redis.pcall('GET', keys.counter))
      return field, last and math.max(0, math.floor((serverTimeUs() - last) / 1000)) or ''
    end
  end
  return '', ''
end
