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
  NEWER: 'Update this client: docs/reference/keys.md#version.',
  READONLY: 'It is a replica: give the address of the master.',
  NOREPLICAS:
    'Fewer replicas follow the master than its min-replicas-to-write wants: see that they run and follow it.',
  OOM: 'Its memory is full: raise maxmemory, or delete what is not needed.',
  MOVED:
    "Another node of a cluster has the slot: give `redis: { cluster: ['host:port', …] }`, or a `Cluster` of ioredis; " +
    'where you do, the slot is on its way.',
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

/** What to do about the reasons for which masters do not vote. */
const OF_MASTERS: readonly (readonly [RegExp, string])[] = [
  [
    /may have forgotten|only told since/,
    'A master that may have forgotten votes by itself when its time has come; find out why it was started anew. ' +
      'Masters that have never been used vote at once when a client with `newDeployment: true` asks once, while all ' +
      'can be reached.',
  ],
  [
    /\bE(?:CONN|HOST|NET|PIPE)[A-Z]+|ENOTFOUND|EAI_|ETIMEDOUT|connection (?:was down|broke)|not connected/,
    'One that cannot be connected to: start it, or see to its address, the network and TLS.',
  ],
  [/no answer|[Tt]imeout/, 'One that gives no answer hangs or is slow, or the network is.'],
  [/votes were split/, 'Split votes: several asked at once; try again, or give a `waitMs`.'],
]

/** The same for each reason of several masters. */
export function stepOfMasters(reasons: string): string {
  const steps = OF_MASTERS.flatMap(([reason, step]) => (reason.test(reasons) ? [step] : []))
  const words = nextStep(reasons).trim()
  const all = words === '' ? steps : [...steps, words]
  return [...all, 'More: docs/how-to/independent-masters.md#what-the-errors-say.'].join(' ')
}
