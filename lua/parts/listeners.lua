-- The number of listeners of a channel, for messages sent by `publish`: PUBLISH or SPUBLISH.
local function listenersAt(channel, publish)
  return redis.call('PUBSUB', publish == 'SPUBLISH' and 'SHARDNUMSUB' or 'NUMSUB', channel)[2]
end
