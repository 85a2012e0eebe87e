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
 * Prepares a client of one server and its Sentinels: see `unrefSockets`. Disables the socket timer
 * of ioredis after the connect, because calls have their own deadlines.
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
 * Prepares the connections to the Sentinels. Ignores their errors, because ioredis tries again, and
 * the client reports if no Sentinel answers.
 *
 * For each connection to a master, ioredis opens new listeners at the Sentinels, and may leave the
 * old listeners open. A message to an old listener would end the connection to the master. So this
 * function closes the old listeners.
 */
function watchSentinels(client: object): void {
  const { connector } = client as { connector?: SentinelConnector }
  const connect = connector?.connectToSentinel
  if (connector === undefined || connect === undefined) return
  const { resolveMaster } = connector
  let master: Address | null = null
  const answers = new WeakMap<object, string>()
  connector.resolveMaster = async (sentinel) => {
    master = await resolveMaster.call(connector, sentinel)
    return master
  }
  connector.connectToSentinel = (endpoint, options) => {
    const sentinel = connect.call(connector, endpoint, { ...options, disconnectTimeout: 100 })
    sentinel.on('error', () => {})
    unrefSockets(sentinel)
    const listens = options !== undefined && 'lazyConnect' in options
    if (listens) listen(sentinel, connector, answers, () => master)
    return sentinel
  }
  const inner = client as { on(event: string, listener: () => void): void }
  inner.on('close', () => {
    connector.failoverDetector?.cleanup()
    connector.failoverDetector = null
  })
}

/**
 * Subscribes at each connect of a Sentinel, because ioredis subscribes only once. Also asks the
 * Sentinel for the master, because a message may have come before the subscription.
 *
 * @param answers the last master that each Sentinel has named
 */
function listen(
  sentinel: Sentinel,
  connector: SentinelConnector,
  answers: WeakMap<object, string>,
  named: () => Address | null,
) {
  const { subscribe } = sentinel
  sentinel.subscribe = async () => {
    if (sentinel.status === 'wait') await sentinel.connect()
  }
  sentinel.on('ready', () => {
    const asked = sentinel.sentinel('get-master-addr-by-name', connector.options.name)
    subscribe.call(sentinel, '+switch-master').catch(() => {})
    const handle = (reply: unknown) => {
      if (!Array.isArray(reply)) return
      const [host, port] = reply
      answers.set(sentinel, show(connector.sentinelNatResolve({ host, port: Number(port) })))
      leaveUnlessSame(connector, answers, named())
    }
    asked.then(handle).catch(() => {})
  })
}

/**
 * Leaves the master if the Sentinel that named this master now names another master, or if most
 * Sentinels do. Does not follow a single other Sentinel, because it may be out of date.
 */
function leaveUnlessSame(
  connector: SentinelConnector,
  answers: WeakMap<object, string>,
  master: Address | null,
): void {
  const sentinels = connector.failoverDetector?.sentinels ?? []
  if (master === null) return
  const namesAnother = ({ client }: { client: object }) =>
    (answers.get(client) ?? show(master)) !== show(master)
  const [first] = sentinels
  if (first === undefined) return
  const isOutvoted = 2 * sentinels.filter(namesAnother).length > sentinels.length
  if (!namesAnother(first) && !isOutvoted) return
  if (!namesAnother(first)) {
    // Makes ioredis ask another Sentinel first: `reset(true)` puts the Sentinel that `next()`
    // returned last at the front.
    connector.sentinelIterator.next()
    connector.sentinelIterator.next()
    connector.sentinelIterator.reset(true)
  }
  connector.disconnect()
}

function show({ host, port }: Address): string {
  return `${host}:${port}`
}
