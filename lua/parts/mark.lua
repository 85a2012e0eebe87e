-- Included after parts/server-time.lua and parts/birth.lua. Reads and writes the mark of a master, for the scripts
-- `enrol`, `claim` and `found`.
--
-- The mark is `<since, µs> <origin> <durable> <replId> <longestMs>`. The origin is the id of the server process that
-- wrote the mark. If the master was claimed for a new deployment, `/` and the id of the deployment follow. After the
-- founding, `/` and the id of the founder follow.

-- The marks of later versions of Holdfast begin with `v` and a number. This version cannot read such marks.
local NEWER = 'NEWER the mark holdfast_birth was written by a newer version of Holdfast'

-- Returns the fields of the mark. Returns nil without a mark. Returns nil and an error for a mark of a newer version. A
-- mark of an older version has no `replId`.
local function readMark(birth)
  local text = redis.call('GET', birth)
  local sinceUs, origin, durable, rest = string.match(text or '', '^(%d+) (%S*) (%d)(.*)$')
  if not sinceUs then
    return nil, text and string.find(text, '^v%d+ ') and NEWER or nil
  end
  local replId, longestMs = string.match(rest, '^ (%x+) (%d+)$')
  local runId, deployment, founder = string.match(origin, '^([^/]*)/?([^/]*)/?([^/]*)$')
  return {
    sinceUs = sinceUs, origin = origin, durable = durable == '1', replId = replId,
    longestMs = tonumber(longestMs or 0), runId = runId, deployment = deployment or '', founder = founder or '',
  }
end

local function writeMark(birth, mark)
  local text = string.format(
    '%s %s %d %s %.0f', mark.sinceUs, mark.origin, mark.durable and 1 or 0, mark.replId, mark.longestMs
  )
  redis.call('SET', birth, text)
end

-- True if the server may have been a replica before. Such a server may lack the last writes of its old master.
local function wasReplica()
  return string.match(replicationInfo(), 'second_repl_offset:(%-?%d+)') ~= '-1'
end

local function isAlone()
  local info = replicationInfo()
  return string.match(info, 'role:(%a+)') == 'master' and not wasReplica()
    and string.match(info, 'connected_slaves:(%d+)') == '0'
    and string.match(info, 'repl_backlog_active:(%d)') == '0'
end

local function ownReplId()
  return string.match(replicationInfo(), 'master_replid:(%x+)')
end

-- True if the claim of this master still counts: its deployment is not founded yet, and the master still rests.
local function isClaim(mark, ownId)
  return mark.deployment ~= '' and mark.founder == '' and mark.replId == ownId
    and tonumber(mark.sinceUs) > serverTimeUs()
end
