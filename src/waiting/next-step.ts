/** For common error replies of Redis, the advice for the user, by the first word of the reply. */
const STEPS: Readonly<Record<string, string>> = {
  WRONGTYPE: 'Another kind of key has this name: use another name.',
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
}

/** Returns a space and the advice for this reply; '' if there is no advice. */
export function nextStep(reply: string): string {
  const known = Object.keys(STEPS).find((word) => new RegExp(`\\b${word} `).test(reply))
  if (known !== undefined) return ` ${STEPS[known]}`
  if (/executing the script can't run this command/.test(reply)) return ` ${STEPS.NOPERM}`
  return /unknown command/i.test(reply)
    ? ' Is it a Sentinel, or a server that blocks this command?'
    : ''
}

/** Advice for common reasons why masters do not vote. */
const OF_MASTERS: readonly (readonly [RegExp, string])[] = [
  [
    /may have lost/,
    'A master that may have lost leases votes automatically after that time. Find out why it restarted. ' +
      'Masters that have never been used vote at once if one client with `newDeployment: true` requests a lock ' +
      'while all of them can be reached.',
  ],
  [
    /\bE(?:CONN|HOST|NET|PIPE)[A-Z]+|ENOTFOUND|EAI_|ETIMEDOUT|connection (?:was down|broke)|not connected/,
    'If a master cannot be reached, start it, or check its address, the network and TLS.',
  ],
  [
    /no answer|[Tt]imeout/,
    'If a master gives no answer, it hangs or is slow, or the network is slow.',
  ],
  [/no time was left/, 'If no time was left to request a vote again, repeat the call.'],
  [
    /votes were split/,
    'Split votes mean that several clients requested the lock at once: try again, or set a `waitMs`.',
  ],
]

export function stepOfMasters(reasons: string): string {
  const steps = OF_MASTERS.flatMap(([reason, step]) => (reason.test(reasons) ? [step] : []))
  const words = nextStep(reasons).trim()
  const all = words === '' ? steps : [...steps, words]
  return [...all, 'More: docs/how-to/independent-masters.md#errors.'].join(' ')
}
