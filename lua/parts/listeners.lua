-- How many listen to a channel, in the way that it is published to: PUBLISH or SPUBLISH.
local function listenersAt(channel, publish)
  return redis.call('PUBSUB', publish == 'SPUBLISH' and 'SHARDNUMSUB' or 'NUMSUB', channel)[2]
end
