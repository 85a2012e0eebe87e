import { startAclPlace } from './acl.ts'
import { startClusterPlace, startPlainClusterPlace } from './cluster.ts'
import { startInstancesPlace } from './instances.ts'
import type { Place } from './place.ts'
import { startReplicasPlace } from './replicas.ts'
import { startSentinelPlace } from './sentinel.ts'
import { startTlsPlace } from './tls.ts'
import { startValkeyPlace } from './valkey.ts'

/** Where people run Redis. Each is started once in a test file, when it is first needed. */
const places: Readonly<Record<string, () => Promise<Place>>> = {
  sentinel: startSentinelPlace,
  cluster: startClusterPlace,
  'cluster-plain': startPlainClusterPlace,
  tls: startTlsPlace,
  acl: startAclPlace,
  replicas: startReplicasPlace,
  instances: startInstancesPlace,
  valkey: startValkeyPlace,
}

const started = new Map<string, Promise<Place>>()

/** Starts it, once for a test file. */
export function placeNamed(name: string): Promise<Place> {
  let place = started.get(name)
  if (place === undefined) {
    const start = places[name]
    if (start === undefined) throw new Error(`No place "${name}" among ${Object.keys(places)}`)
    place = start()
    started.set(name, place)
  }
  return place
}
