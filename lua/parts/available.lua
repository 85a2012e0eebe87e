-- How many permits of a semaphore are available is a number, as Redisson has it. Of another value that is said.
local NO_SEMAPHORE = 'WRONGTYPE a value that is no number of permits has this name'

-- How many are available, also fewer than none, and whether that was set; nil where it is no number.
local function availableIn(semaphore)
  local text = redis.call('GET', semaphore)
  if not text then
    return 0, false
  end
  return tonumber(string.match(text, '^%-?%d+$')), true
end
