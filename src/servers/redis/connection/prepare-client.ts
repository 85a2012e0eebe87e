import { unrefSockets } from './sockets.ts'

interface Address {
  readonly host: string
  readonly port: number
}

interface SentinelConnector {
  readonly options: { readonly name: string }
  failoverDetector?: { cleanup(): void; readonly sentinels: readonly { client: object }[] } | null
  readonly sentinelIterator: { next(): unknown; reset(toFirst: boolean): void }
  connectToSentinel?(endpoint: object, options?: object): Sentinel
  resolveMaster(client: object): Promise<Address | null>
  sentinelNatResolve(address: Address): Address
  disconnect(): void
}

interface Sentinel {
  readonly status: string
  on(event: string, listener: () => void): void
  subscribe(channel: string): Promise<unknown>
  connect(): Promise<unknown>
  sentinel(word: string, name: string): Promise<unknown>
}

/**
 * What `unrefSockets` does, for a client of one server, and for those that it asks where the server is. Once it is
 * connected its calls have deadlines of their own, and ioredis need not set a timer for each.
 */
export function prepareClient(client: object): void {
  unrefSockets(client)
  const inner = client as {
    on(event: string, listener: () => void): void
    setSocketTimeout?: () => void
  }
  inner.on('ready', () => {
    inner.setSocketTimeout = () => {}
  })
  inner.on('close', () => {
    delete inner.setSocketTimeout
  })
  watchSentinels(client)
}

/**
 * Of a client that finds its master by Sentinels: the connections to them, on which ioredis asks for the
 * master and is told of another one. What fails with them is tried again, and told where no Sentinel can be
 * asked. ioredis makes those that listen anew with each connection, and otherwise ends them neither with one that
 * broke, which is then ended once more by what they tell, nor with one that is closed before it is made.
 */
function watchSentinels(client: object): void {
  const { connector } = client as { connector?: SentinelConnector }
  const connect = connector?.connectToSentinel
  if (connector === undefined || connect === undefined) return
  const { resolveMaster } = connector
  let master: Address | null = null
  connector.resolveMaster = async (sentinel) => {
    master = await resolveMaster.call(connector, sentinel)
    return master
  }
  connector.connectToSentinel = (endpoint, options) => {
    const sentinel = connect.call(connector, endpoint, { ...options, disconnectTimeout: 100 })
    sentinel.on('error', () => {})
    unrefSockets(sentinel)
    const listens = options !== undefined && 'lazyConnect' in options
    if (listens) listen(sentinel, connector, () => master)
    return sentinel
  }
  const inner = client as { on(event: string, listener: () => void): void }
  inner.on('close', () => {
    connector.failoverDetector?.cleanup()
    connector.failoverDetector = null
  })
}

/**
 * Listens with each connection: ioredis asks once, and gives up when it was in vain for a while. What this
 * Sentinel told before it is listened to would be missed, so it is asked in the same moment who the master is:
 * the one that was asked before may not have known yet.
 */
function listen(sentinel: Sentinel, connector: SentinelConnector, named: () => Address | null) {
  const { subscribe } = sentinel
  sentinel.subscribe = async () => {
    if (sentinel.status === 'wait') await sentinel.connect()
  }
  sentinel.on('ready', () => {
    const asked = sentinel.sentinel('get-master-addr-by-name', connector.options.name)
    subscribe.call(sentinel, '+switch-master').catch(() => {})
    asked.then((address) => leaveUnlessSame(sentinel, connector, address, named())).catch(() => {})
  })
}

function leaveUnlessSame(
  sentinel: Sentinel,
  connector: SentinelConnector,
  address: unknown,
  master: Address | null,
): void {
  const sentinels = connector.failoverDetector?.sentinels ?? []
  const isOver = sentinels.every((one) => one.client !== sentinel)
  if (isOver || master === null || !Array.isArray(address)) return
  const { host, port } = connector.sentinelNatResolve({
    host: address[0],
    port: Number(address[1]),
  })
  if (host === master.host && port === master.port) return
  // The next one is asked first: this one, or the other, may know nothing for long.
  connector.sentinelIterator.next()
  connector.sentinelIterator.reset(true)
  connector.disconnect()
}
