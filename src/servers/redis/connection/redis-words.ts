import { NameConflict } from '../../name-conflict.ts'
import type { ServerWords } from '../../server-words.ts'
import { Refusal, UNKNOWN_COMMAND } from './failure-of.ts'

/** The code of the refusal of a key that has another type. */
const CONFLICT = 'WRONGTYPE'

/** The advice for users about common error replies of Redis, by the code of the reply. */
const STEPS: Readonly<Record<string, string>> = {
  [CONFLICT]: 'Another kind of key has this name: use another name.',
  NOAUTH: 'Give a username and a password that the server knows.',
  WRONGPASS:
    'Check the username and the password. A user that was not saved (CONFIG REWRITE or ACL SAVE) is gone after a ' +
    'restart of the server.',
  NOPERM:
    'Give the login the missing rights, to keys with your `keyPrefix`: docs/reference/acl.md. ' +
    '`npx holdfast doctor` with this login shows more.',
  NEWER: 'Update this client: docs/reference/keys.md#version.',
  READONLY: 'It is a replica: give the address of the master.',
  NOREPLICAS:
    'Fewer replicas follow the master than its min-replicas-to-write requires: check that they run and follow it.',
  OOM: 'Its memory is full: raise maxmemory, or delete what is not needed.',
  MOVED:
    "Another node of a cluster has the slot. Give `redis: { cluster: ['host:port', …] }`, or a `Cluster` of ioredis. " +
    'If you use one of these already, the slot is moving to another node.',
  CLUSTERDOWN:
    'The cluster has no master for this lock, or no majority of masters: see `CLUSTER INFO`.',
  [UNKNOWN_COMMAND]: 'Is it a Sentinel, or a server that blocks this command?',
}

/**
 * Returns the advice for one of these failures, after a space; '' if there is none. If several have
 * advice, the order of `STEPS` decides.
 */
export function stepAfterAny(failures: readonly Error[]): string {
  const codes = failures.map(codeIn)
  const known = Object.keys(STEPS).find((code) => codes.includes(code))
  return known === undefined ? '' : ` ${STEPS[known]}`
}

function codeIn(failure: Error): string | undefined {
  if (failure instanceof NameConflict) return CONFLICT
  return failure instanceof Refusal ? failure.code : undefined
}

export const REDIS_WORDS: ServerWords = {
  name: 'Redis',
  ifSilent:
    'Check that Redis is up and can be reached, with the address, login and TLS of this client.',
  oneServer: 'client with `redis`',
  conflictCode: CONFLICT,
  stepAfter: (failure) => stepAfterAny([failure]),
}
