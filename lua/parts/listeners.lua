-- Returns the number of listeners of a channel for messages that `publish` sends: PUBLISH or SPUBLISH.
local function listenersAt(channel, publish)
  return redis.call('PUBSUB', publish == 'SPUBLISH' and 'SHARDNUMSUB' or 'NUMSUB', channel)[2]
end
