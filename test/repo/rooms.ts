import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/** The leaves: every room of src/ may import them. Leaves may also import each other. */
export const leaves = [
  'diagnostics',
  'errors',
  'events',
  'lock-observer',
  'options',
  'run-record',
  'why-not-acquired',
]

const engine = ['local', 'waiting', 'lease', 'owner', 'servers', 'kit']
const places = [
  'servers/redis',
  'servers/redis/connection',
  'servers/redis/thread',
  'servers/quorum',
]
const records = ['servers/records', 'servers/records/read-write', 'servers/records/semaphore']
const folders = readdirSync(join(__dirname, '../../src/locks'))
const kinds = folders.map((folder) => `locks/${folder}`)

/** The rooms that a room of src/ may import, in addition to its own files. `import type` is an import as well. */
const engineMayImport: Record<string, string[]> = {
  index: ['holdfast', ...kinds, ...engine],
  testing: ['holdfast', 'memory-client', 'type lease', 'local', 'servers/memory', 'kit'],
  'memory-client': ['connect-records', 'holdfast', 'servers/memory', 'servers/redis'],
  'connect-records': ['type connect', 'type servers', 'type servers/records'],
  holdfast: ['client-emitter', 'client-parts', 'kinds', ...kinds, ...engine, 'connect', 'nanoid'],
  'client-emitter': ['kit', 'eventemitter3'],
  'client-parts': ['client-emitter', 'locks/red', ...engine],
  kinds: [...kinds, ...engine],
  connect: ['local', 'servers', ...places],
  ...Object.fromEntries(kinds.map((kind) => [kind, engine])),
  'locks/fair': ['locks/lock', ...engine],
  'locks/read-write': ['locks/lock', ...engine],
  'locks/multi': ['locks/lock', ...engine],
  'locks/red': ['locks/lock', ...engine],
  // An election uses locks and leases like a user. It acquires and renews nothing itself.
  'locks/leader': ['lease', 'type owner', 'waiting', 'servers', 'kit', 'eventemitter3'],
  local: ['channels', 'waiting', 'lease', 'owner', 'servers', 'type servers/availability', 'kit'],
  waiting: ['lease', 'owner', 'servers', 'kit'],
  // Only the folder `local` makes the observer. All other code knows the interface of an observer.
  channels: ['lease', 'type kit'],
  lease: ['owner', 'kit'],
  owner: ['kit'],
  servers: ['kit'],
  // The protocols of all servers without scripts.
  'servers/records': ['servers', 'kit'],
  'servers/records/kinds': [...records, 'servers'],
  'servers/records/read-write': ['servers/records', 'servers', 'kit'],
  'servers/records/semaphore': ['servers/records', 'servers', 'kit'],
  'servers/redis': [
    'servers/availability',
    'servers/redis/calls',
    'servers/redis/connection',
    'servers/redis/durability',
    'servers/redis/key-names',
    'servers/redis/read-write',
    'servers/redis/presence',
    'servers/redis/scripts',
    'servers/redis/semaphore',
    'servers',
    'kit',
    'ioredis',
  ],
  'servers/redis/calls': [
    'servers/availability',
    'servers/redis/connection',
    'servers/redis/scripts',
    'servers',
    'kit',
    'ioredis',
  ],
  'servers/redis/key-names': ['servers/redis/calls'],
  'servers/redis/durability': [
    'servers/redis/calls',
    'servers/redis/connection',
    'servers/redis/scripts',
    'servers',
    'kit',
    'ioredis',
  ],
  'servers/redis/presence': [
    'servers/redis/calls',
    'servers/redis/connection',
    'servers/redis/scripts',
    'servers',
    'type ioredis',
  ],
  'servers/redis/read-write': [
    'servers/redis/calls',
    'servers/redis/key-names',
    'servers/redis/scripts',
    'servers',
    'kit',
  ],
  'servers/redis/semaphore': [
    'servers/redis/calls',
    'servers/redis/key-names',
    'servers/redis/scripts',
    'servers',
    'kit',
  ],
  'servers/availability': ['servers', 'kit'],
  'servers/redis/connection': ['servers/availability', 'servers', 'kit', 'ioredis'],
  'servers/redis/scripts': ['type servers'],
  'servers/redis/thread': [
    'servers/redis',
    'servers/redis/connection',
    'servers',
    'kit',
    'ioredis',
  ],
  'servers/quorum': [
    'servers/quorum/master',
    'servers/redis',
    'servers/redis/calls',
    'servers/redis/connection',
    'servers/redis/scripts',
    'servers',
    'kit',
  ],
  'servers/quorum/master': [
    'servers/redis',
    'servers/redis/calls',
    'servers/redis/connection',
    'servers/redis/scripts',
    'servers',
    'kit',
  ],
  'servers/memory': [
    'servers/records',
    'servers/records/kinds',
    'type servers/availability',
    'servers',
    'kit',
  ],
  kit: [],
  // Subscribers of facts inside a service import only the public entry.
  'observe/facts': ['index'],
  'observe/metrics': ['observe/facts', 'index', 'prom-client'],
  'observe/opentelemetry': ['observe/facts', 'index', '@opentelemetry/api'],
  diagnostics: [],
  errors: [],
  options: ['type owner', 'kit', 'type ioredis'],
  events: [],
  'lock-observer': [],
  'run-record': [],
  'why-not-acquired': [],
}

/**
 * The rooms that a room of tools/ may import. People run these programs beside their services, so they import only the
 * public door of src/. No room of src/ imports a tool.
 *
 * The commands and the handler of the dashboard see locks only through `tools/inspection`, so they work on each server
 * with an inspection. An inspection knows how its server stores locks, so it also imports the server's rooms of src/.
 */
const toolsMayImport: Record<string, string[]> = {
  'tools/cli': [
    'tools/servers',
    'tools/doctor',
    'tools/cli/command',
    'tools/cli/bench',
    'tools/cli/dashboard',
    'tools/cli/history',
    'tools/cli/locks',
    'index',
  ],
  'tools/cli/bench': ['tools/cli/command', 'tools/cli/text', 'tools/servers', 'index'],
  'tools/cli/history': [
    'tools/cli/command',
    'tools/cli/text',
    'tools/servers',
    'tools/history',
    'index',
  ],
  'tools/cli/dashboard': [
    'tools/cli/command',
    'tools/dashboard',
    'tools/history',
    'tools/servers',
    'index',
  ],
  'tools/cli/command': ['index'],
  'tools/cli/text': [],
  'tools/cli/locks': [
    'tools/cli/command',
    'tools/cli/servers',
    'tools/cli/text',
    'tools/inspection',
    'tools/kinds',
    'index',
  ],
  'tools/cli/servers': [
    'tools/cli/command',
    'tools/cli/text',
    'tools/inspection',
    'tools/inspection/redis',
    'tools/servers',
  ],
  'tools/doctor': [
    'tools/cli/command',
    'tools/servers',
    'tools/doctor/facts',
    'tools/doctor/checks',
    'tools/doctor/report',
    'index',
  ],
  'tools/doctor/facts': [
    'tools/inspection/redis',
    'tools/inspection/redis/kinds',
    'tools/servers',
    'servers/redis/calls',
    'servers/redis/key-names',
    'index',
  ],
  'tools/doctor/checks': ['tools/doctor/facts', 'tools/cli/text', 'tools/inspection'],
  'tools/doctor/report': [
    'tools/cli/command',
    'tools/cli/text',
    'tools/doctor/checks',
    'tools/doctor/facts',
  ],
  'tools/dashboard': [
    'tools/dashboard/handler',
    'tools/inspection/redis',
    'tools/history',
    'tools/servers',
    'index',
  ],
  'tools/dashboard/handler': ['tools/inspection', 'tools/kinds', 'type tools/history', 'index'],
  'tools/history': ['observe/facts', 'tools/servers', 'index', 'ioredis'],
  'tools/inspection': ['tools/kinds', 'servers', 'index'],
  'tools/inspection/records': [
    'tools/inspection',
    'tools/kinds',
    'connect-records',
    'servers',
    'servers/records',
    'servers/records/kinds',
    'index',
  ],
  'tools/inspection/redis': [
    'tools/inspection',
    'tools/inspection/redis/kinds',
    'tools/history',
    'tools/kinds',
    'tools/servers',
    'servers/redis/calls',
    'servers/redis/key-names',
    'index',
  ],
  'tools/inspection/redis/kinds': [
    'tools/inspection',
    'tools/inspection/redis',
    'tools/kinds',
    'type tools/servers',
    'locks/job',
    'servers',
    'servers/redis/calls',
    'servers/redis/key-names',
  ],
  'tools/kinds': ['type index'],
  'tools/servers': ['index', 'ioredis'],
}

export const mayImport: Record<string, string[]> = { ...engineMayImport, ...toolsMayImport }
