/** What to do about the error replies that people meet, by their first word. */
const STEPS: Readonly<Record<string, string>> = {
  WRONGTYPE: 'Something else has this name: take another.',
  NOAUTH: 'Give a username and a password that the server knows.',
  WRONGPASS:
    'Check the username and the password; a user that was not written down (CONFIG REWRITE, or ACL SAVE) ' +
    'is gone after a restart of the server.',
  NOPERM:
    'Give the login the rights that it lacks, to keys with your `keyPrefix`: docs/reference/keys.md#rights; ' +
    '`npx holdfast doctor` with this login tells more.',
  READONLY: 'It is a replica: give the address of the master.',
  NOREPLICAS:
    'Fewer replicas follow the master than its min-replicas-to-write wants: see that they run and follow it.',
  OOM: 'Its memory is full: raise maxmemory, or delete what is not needed.',
  MOVED:
    "It is a node of a cluster: give `redis: { cluster: ['host:port', …] }`, or a `Cluster` of ioredis.",
  CLUSTERDOWN:
    'The cluster has no master for this lock, or no majority of masters: `CLUSTER INFO` tells.',
}

/** What to do, with a space before it; nothing where the reply says all there is to say. */
export function nextStep(reply: string): string {
  const known = Object.keys(STEPS).find((word) => new RegExp(`\\b${word} `).test(reply))
  if (known !== undefined) return ` ${STEPS[known]}`
  if (/executing the script can't run this command/.test(reply)) return ` ${STEPS.NOPERM}`
  return /unknown command/i.test(reply)
    ? ' Is it a Sentinel, or a server that keeps this command to itself?'
    : ''
}
