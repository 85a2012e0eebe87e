import { ELECTION_NAMES } from '../../../../src/servers/redis/key-names/election.ts'
import { concludeHash, fairRights, forceLock } from './hashes.ts'
import type { KeyKind } from './kind.ts'

/** Elections. The leader holds a fair lock, so an election has the keys of a fair lock. */
export const election: KeyKind = {
  kind: 'election',
  named: [],
  expiring: [],
  conclude: (answers) => concludeHash(answers, 'election'),
  force: forceLock,
  rights(names) {
    const { commands, patterns } = fairRights(names)
    const channels = [names.channel(ELECTION_NAMES.channel)]
    return { kind: 'leader election', commands, patterns: [...patterns, ...channels] }
  },
}
