import { startAclPlace } from './acl.ts'
import { startClusterPlace, startPlainClusterPlace } from './cluster.ts'
import { startInstancesPlace } from './instances.ts'
import type { Place } from './place.ts'
import { startReplicasPlace } from './replicas.ts'
import { startSentinelPlace } from './sentinel.ts'
import { startTlsPlace } from './tls.ts'
import { startValkeyPlace } from './valkey.ts'

/** The deployments that tests can run in. Each test file starts a place when it first needs the place. */
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

/** Returns the place with this name. The first call in a test file starts the place. */
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
