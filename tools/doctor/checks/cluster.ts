import { answerOf } from '../facts/facts.ts'
import { configOf, isMaster } from '../facts/names.ts'
import { type Check, setting } from './check.ts'

const SLOTS = 16_384

export const cluster: Check = {
  codes: {
    'cluster-down': 'error',
    'slots-uncovered': 'error',
    'nodes-down': 'warning',
    'full-coverage': 'note',
    'cluster-unknown': 'error',
  },
  *run({ cluster: facts, servers }) {
    if (facts === undefined) return
    if ('unknown' in facts.nodes && servers.some(({ unreachable }) => unreachable === undefined)) {
      yield {
        code: 'cluster-unknown',
        at: undefined,
        seen: `CLUSTER NODES was refused: ${facts.nodes.unknown}.`,
        why: 'Only the given nodes were checked. A getMultiLock with locks of a cluster and of another server also needs this right.',
        fix: [
          '# As a user with the right: ACL SETUSER <user> +cluster|nodes +cluster|info +cluster|slots',
        ],
        numbers: {},
      }
    }
    const nodes = answerOf(facts.nodes) ?? []
    if (nodes.length < 2) return
    const down = nodes.filter(({ flags }) => flags.some((flag) => /^fail\??$|^noaddr$/.test(flag)))
    const slots = nodes
      .filter((node) => !down.includes(node))
      .reduce((sum, node) => sum + node.slots, 0)
    const info = answerOf(facts.info) ?? {}
    const { cluster_state: state } = info
    const numbers = { state: state ?? 'unknown', slots, nodes: nodes.length, down: down.length }
    const [first] = servers
    const suggestions = first === undefined ? [] : [`${first.cli} CLUSTER NODES`]
    if (state !== undefined && state !== 'ok') {
      yield {
        code: 'cluster-down',
        at: undefined,
        seen: `cluster_state is ${state}.`,
        why: 'Nodes answer CLUSTERDOWN: no lock can be acquired or renewed.',
        fix: [
          ...suggestions,
          '# Restart the nodes that are down, or move their slots to other nodes.',
        ],
        numbers,
      }
    }
    if (slots < SLOTS) {
      yield {
        code: 'slots-uncovered',
        at: undefined,
        seen: `${SLOTS - slots} of ${SLOTS} slots have no running master.`,
        why: 'Locks in those slots cannot be acquired or renewed.',
        fix: [
          ...suggestions,
          '# redis-cli --cluster fix <host:port> moves these slots to other nodes, but loses their data.',
        ],
        numbers,
      }
    }
    if (down.length > 0) {
      yield {
        code: 'nodes-down',
        at: undefined,
        seen: `${down.length} of ${nodes.length} nodes are down: ${down.map(({ address, flags }) => `${address} (${flags.join(', ')})`).join(', ')}.`,
        why: 'If such a node was a master, no lock of its slots can be acquired or renewed until a replica takes over. The replica may lack the latest locks.',
        fix: [...suggestions, '# Restart these nodes, or remove them with CLUSTER FORGET.'],
        numbers,
      }
    }
    for (const server of servers.filter(isMaster)) {
      if (configOf(server, 'cluster-require-full-coverage') !== 'yes') continue
      yield {
        code: 'full-coverage',
        at: server.address,
        seen: 'cluster-require-full-coverage is yes.',
        why: 'If some slots have no master, no lock of any slot can be acquired. Without the setting, locks of other slots still work.',
        fix: setting(server, 'cluster-require-full-coverage', 'no'),
        numbers: {},
      }
    }
  },
}
