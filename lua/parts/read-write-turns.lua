-- Included after parts/read-write-queues.lua. Decides which waiters are next, and wakes them.

-- True if a reader must wait for the first member of the queue of the writers. A plain reader waits if this member
-- wants to write, except during the phase for waiting readers. A reader that wants the upgradable lock waits if another
-- member is first.
local function isShut(keys, owner, place)
  local first = firstOf(keys, keys.writers)
  if not first or isUpgradable(owner) then
    return first and first ~= place
  end
  return not isUpgradable(first) and redis.call('EXISTS', keys.phase) == 0
end

-- Wakes the next waiters. The message '2' wakes all waiting readers. Any other message is the score of the first member
-- of the queue of the writers. The message wakes only this member, because all other members have other scores.
-- Redisson's clients ignore both messages. `left` is the number of holders; no holder writes.
local function tellNext(keys, publish, channel, left, areReadersFirst, phaseMs)
  local first, sinceUs = firstOf(keys, keys.writers)
  local waitsToWrite = first and not isUpgradable(first)
  local areReadersNext = firstOf(keys, keys.readers)
    and (areReadersFirst or not waitsToWrite or redis.call('EXISTS', keys.phase) == 1)
  if areReadersNext then
    -- The phase begins even if no writer waits, because a new writer must not overtake these readers.
    if areReadersFirst then
      redis.call('SET', keys.phase, '1', 'PX', phaseMs)
    end
    redis.call(publish, channel, '2')
  end
  local isAlone = left == 0 or left == 1 and sinceUs == GOES_ON
  if first and (not waitsToWrite or isAlone and not areReadersNext) then
    redis.call(publish, channel, sinceUs)
  end
end

-- Called when the lock becomes free, or when a writer becomes a reader. The messages '00' and '01' are for Redisson's
-- clients, which read them as 0 and 1. Waiters of Holdfast ignore these messages. Callers of Holdfast that only watch
-- for a release react to all messages.
local function wake(keys, publish, channel, left, wasWritten, phaseMs)
  local told = redis.call(publish, channel, wasWritten and '01' or '00')
  -- The script wakes waiters even if `told` is 0, because a node of a cluster counts only its own listeners.
  tellNext(keys, publish, channel, left, wasWritten, phaseMs)
  return told
end
