-- A semaphore is a number, as Redisson has it: how many permits are available. Of another value that is said.
local NO_SEMAPHORE = 'WRONGTYPE a value that is no number of permits has this name'

-- How many are available, also fewer than none; 0 where there is no semaphore, nil where it is something else.
local function availableIn(semaphore)
  local value = redis.call('GET', semaphore)
  return not value and 0 or tonumber(string.match(value, '^%-?%d+$'))
end

-- The requests whose answers have been heard are not sent again.
local function forget(...)
  if select('#', ...) > 0 then
    redis.call('DEL', ...)
  end
end
