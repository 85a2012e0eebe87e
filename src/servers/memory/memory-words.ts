import type { ServerWords } from '../server-words.ts'

/** A server in memory stands for Redis in the tests of users, so errors name Redis. */
export const MEMORY_WORDS: ServerWords = {
  name: 'Redis',
  ifSilent:
    'Check that Redis is up and can be reached, with the address, login and TLS of this client.',
  oneServer: 'client with `redis`',
  conflictCode: 'WRONGTYPE',
  stepAfter: () => '',
}
