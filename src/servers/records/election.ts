import type { ElectionChannel } from '../election-channel.ts'
import type { RecordKind } from './record-kind.ts'

const channelOf = (rawName: string) => `election ${rawName}`

export const recordElection: RecordKind<(rawName: string) => ElectionChannel> =
  ({ store }) =>
  (rawName) => ({
    announce: (token, callMs) => store.publish(channelOf(rawName), String(token), callMs),
    listen: (onChange) => store.listen(channelOf(rawName), () => onChange()),
  })
