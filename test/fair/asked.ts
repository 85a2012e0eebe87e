import { type Rig, SHA } from '../support/fault-rig.ts'

/**
 * Counts the calls of `fair/acquire` that reached the proxy: alone, or with other calls in one request.
 *
 * @param clientId counts only the calls of this client, if given
 */
export function asked({ proxy }: Rig, clientId = ''): number {
  return proxy.requests.reduce(
    (sum, { args }) => sum + calls(args, 'a', SHA.acquireFair, clientId),
    0,
  )
}

/** Counts the calls of `fair/release` that reached the proxy: alone, or with other calls in one request. */
export function released({ proxy }: Rig): number {
  return proxy.requests.reduce((sum, { args }) => sum + calls(args, 'r', SHA.releaseFair, ''), 0)
}

/** Counts the requests that reached the proxy, by their purpose. */
export function requests(rig: Rig) {
  return {
    asked: asked(rig),
    released: released(rig),
    confirmed: rig.proxy.count(SHA.renew),
  }
}

function calls(
  [sha, keys, ...rest]: readonly string[],
  kind: 'a' | 'r',
  alone: string,
  clientId: string,
): number {
  const args = rest.slice(Number(keys))
  if (sha === alone) return args[0]?.startsWith(clientId) ? 1 : 0
  if (sha !== SHA.batchFair) return 0
  const [kinds = '', ...own] = args.slice(6)
  let count = 0
  for (const [, found, length] of kinds.matchAll(/([a-z])(\d+)/g)) {
    const [owner] = own.splice(0, Number(length))
    if (found === kind && owner?.startsWith(clientId)) count += 1
  }
  return count
}
