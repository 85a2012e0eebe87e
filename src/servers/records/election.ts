import type { ElectionChannel } from '../election-channel.ts'
import type { ServerKind } from '../server-kind.ts'

const channelOf = (rawName: string) => `election ${rawName}`

export const ELECTION: ServerKind<(rawName: string) => ElectionChannel> = {
  name: 'election',
  onRecords:
    ({ store }) =>
    (rawName) => ({
      announce: (token, callMs) => store.publish(channelOf(rawName), String(token), callMs),
      listen: (onChange) => store.listen(channelOf(rawName), () => onChange()),
    }),
}
