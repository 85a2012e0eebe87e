import { type Rig, SHA } from '../support/fault-rig.ts'

/**
 * Counts the calls of `fair/acquire` that reached the proxy: alone, or with other calls in one request.
 *
 * @param clientId counts only the calls of this client, if given
 */
export function asked({ proxy }: Rig, clientId = ''): number {
  return proxy.requests.reduce((sum, { args }) => sum + owners(args, clientId), 0)
}

function owners([sha, keys, ...rest]: readonly string[], clientId: string): number {
  const args = rest.slice(Number(keys))
  if (sha === SHA.acquireFair) return args[0]?.startsWith(clientId) ? 1 : 0
  if (sha !== SHA.batchFair) return 0
  const [kinds = '', ...own] = args.slice(6)
  let count = 0
  for (const [, kind, length] of kinds.matchAll(/([a-z])(\d+)/g)) {
    const [owner] = own.splice(0, Number(length))
    if (kind === 'a' && owner?.startsWith(clientId)) count += 1
  }
  return count
}
