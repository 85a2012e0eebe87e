import type { ServerWords } from '../server-words.ts'

/** In the tests of users, a server in memory replaces Redis, so errors name Redis. */
export const MEMORY_WORDS: ServerWords = {
  name: 'Redis',
  ifSilent:
    'Check that Redis is up and can be reached, with the address, login and TLS of this client.',
  oneServer: 'client with `redis`',
  conflictCode: 'WRONGTYPE',
  stepAfter: () => '',
}
