-- Returns how many listeners a message on this channel has. `publish` is the command that sends the message: PUBLISH or
-- SPUBLISH.
local function listenersAt(channel, publish)
  return redis.call('PUBSUB', publish == 'SPUBLISH' and 'SHARDNUMSUB' or 'NUMSUB', channel)[2]
end
