-- Included after parts/kind.lua. How many permits of a semaphore are available is a number, as Redisson has it.
local NO_SEMAPHORE = 'WRONGTYPE a value that is no number of permits has this name'

-- How many are available, also fewer than none, and whether that was set; or nil, and an error.
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
