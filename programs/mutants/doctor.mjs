const ONE = 'test/doctor/doctor-one-server.test.ts'
const MASTERS = 'test/doctor/doctor-masters.test.ts'
const RIGHTS = 'test/doctor/rights.test.ts'
const REACHING = 'test/doctor/reaching.test.ts'
const CLUSTER = 'test/doctor/doctor-cluster.test.ts'
const SENTINEL = 'test/doctor/doctor-sentinel.test.ts'
const FACTS = 'tools/doctor/facts'
const CHECKS = 'tools/doctor/checks'

/** Mistakes of `npx holdfast doctor`. */
export const doctor = [
  {
    id: 'doctor-waits-for-ever',
    mistake: 'The doctor waits forever for a server that accepts a connection and never answers.',
    file: 'tools/servers/open-server.ts',
    search: 'Math.max(0, timeoutMs - usedMs)',
    replace: '60_000',
    test: REACHING,
    name: 'the doctor ends in time if a server accepts a connection and never answers',
  },
  {
    id: 'doctor-shows-password',
    mistake: 'An invalid address is shown with its password.',
    file: 'tools/servers/endpoint.ts',
    search: "text.replace(/^([a-z]*:\\/\\/)?.*@/s, '$1***@')",
    replace: "text.replace(/^([a-z]*:\\/\\/)?[^:]*@/s, '$1***@')",
    test: REACHING,
    name: 'an invalid address is shown without its login:',
  },
  {
    id: 'doctor-unreached-is-well',
    mistake: 'A server that could not be checked counts as a server without findings.',
    file: 'tools/doctor/report/report.ts',
    search: 'return missed || servers.length === 0',
    replace: 'return false',
    test: REACHING,
    name: 'a server that cannot be reached is reported with the reason, and the other servers are checked',
  },
  {
    id: 'doctor-evicts-only-volatile',
    mistake: 'Only eviction policies for keys with a TTL are reported.',
    file: `${CHECKS}/memory.ts`,
    search: "policy !== 'noeviction'",
    replace: "policy.startsWith('volatile')",
    test: ONE,
    name: 'a policy that evicts locks',
  },
  {
    id: 'doctor-forgets-quorum',
    mistake:
      'Three masters that rest after a restart are reported as masters that need persistence.',
    file: `${CHECKS}/persistence.ts`,
    search: 'servers.length >= 3',
    replace: 'servers.length > 3',
    test: MASTERS,
    name: 'three masters without persistence need no repair, and the report has the rest after a restart',
  },
  {
    id: 'doctor-clock-unaided',
    mistake:
      'Clocks are compared without the error of the measurement, and from the slowest answer.',
    file: `${FACTS}/read-clock.ts`,
    search: 'if (tripMs < best.tripMs)',
    replace: 'if (trips.length === 1 || tripMs < 0)',
    test: MASTERS,
    name: 'the fastest answer gives the offset of a clock and its bound',
  },
  {
    id: 'doctor-lease-unasked',
    mistake:
      'The round trips of masters are compared with the command timeout, and not with the lease.',
    file: `${CHECKS}/round-trips.ts`,
    search: "deployment === 'masters' ? Math.min(commandTimeoutMs, shareMs) : commandTimeoutMs",
    replace: 'commandTimeoutMs + 0 * shareMs',
    test: MASTERS,
    name: 'a master that answers too late for the lease',
  },
  {
    id: 'doctor-dryrun-scripts-only',
    mistake: 'The doctor checks the rights to keys, but not the rights to channels.',
    file: `${FACTS}/read-rights.ts`,
    search: "pattern.startsWith('&') ? TELLS : TOUCHES",
    replace: "pattern.startsWith('&') ? [] : TOUCHES",
    test: RIGHTS,
    name: 'missing key patterns are reported together',
  },
  {
    id: 'doctor-mark-without-ttl',
    mistake: 'Keys that must stay are reported as keys without a TTL.',
    file: 'tools/inspection/redis/key-names.ts',
    search: '):|:rwlock_timeout',
    replace: '):|^holdfast_birth$|:rwlock_timeout',
    test: ONE,
    name: 'a lock, a key of a lock and a counter without a TTL are separate findings',
  },
  {
    id: 'doctor-nodes-of-replicas',
    mistake: 'The replicas of a cluster are checked as masters.',
    file: `${FACTS}/read-cluster.ts`,
    search: "node.flags.includes('slave') ? 'replica' : 'master'",
    replace: "'master' as const",
    test: CLUSTER,
    name: 'the doctor checks each node of a cluster from one node, and reports each finding once',
  },
  {
    id: 'doctor-slots-of-the-dead',
    mistake: 'The slots of masters that are down count as covered.',
    file: `${CHECKS}/cluster.ts`,
    search: '.filter((node) => !down.includes(node))',
    replace: '.filter((node) => node !== undefined)',
    test: CLUSTER,
    name: 'a replica that is down, and slots without a master',
  },
  {
    id: 'doctor-quorum-of-one',
    mistake: 'A quorum of one Sentinel counts as enough.',
    file: `${CHECKS}/sentinels.ts`,
    search: 'quorum < majority && all >= 3',
    replace: 'quorum < 1 && all >= 3',
    test: SENTINEL,
    name: 'a quorum that is too high or too low is reported',
  },
]
