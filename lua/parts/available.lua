-- Included after parts/kind.lua. Redisson stores the available permits of a semaphore as a number.
local NO_SEMAPHORE = 'WRONGTYPE a value that is no number of permits has this name'

-- Returns the number of available permits, which can be below 0, and true if a client has set this number. On an error,
-- returns nil and the error.
local function availableIn(semaphore, kind, own)
  local text, refusal = numberOf(semaphore, kind, own)
  if refusal then
    return nil, refusal
  elseif not text then
    return 0, false
  elseif not string.match(text, '^%-?%d+$') then
    return nil, redis.error_reply(NO_SEMAPHORE)
  end
  return tonumber(text), true
end
