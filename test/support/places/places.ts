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

/** @param names as in `sentinel,cluster`; `places` is all of them */
export function placesNamed(names: string): [name: string, start: () => Promise<Place>][] {
  const wanted = names === 'places' ? Object.keys(places) : names.split(',')
  return wanted.map((name) => {
    const start = places[name]
    if (start === undefined) {
      throw new Error(
        `HOLDFAST_WORLDS: no "${name}" among few, places, ${Object.keys(places).join(', ')}`,
      )
    }
    return [name, () => startOnce(name, start)]
  })
}

function startOnce(name: string, start: () => Promise<Place>): Promise<Place> {
  let place = started.get(name)
  if (place === undefined) {
    place = start()
    started.set(name, place)
  }
  return place
}
