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
 * Listens with each connection: ioredis asks once, and gives up when it was in vain for a while. What this
 * Sentinel told before it is listened to would be missed, so it is asked in the same moment who the master is:
 * the one that was asked before may not have known yet.
 *
 * @param answers what each of those that are listened to has named last
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
    const heard = (reply: unknown) => {
      if (!Array.isArray(reply)) return
      const [host, port] = reply
      answers.set(sentinel, show(connector.sentinelNatResolve({ host, port: Number(port) })))
      leaveUnlessSame(connector, answers, named())
    }
    asked.then(heard).catch(() => {})
  })
}

/**
 * Where the Sentinel that named the master names another one now, or most of them do. A single other one may
 * have heard of nothing for long: to follow each of them would be to go back and forth.
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
    // Another one is asked first. `reset` counts from the one before.
    connector.sentinelIterator.next()
    connector.sentinelIterator.next()
    connector.sentinelIterator.reset(true)
  }
  connector.disconnect()
}

function show({ host, port }: Address): string {
  return `${host}:${port}`
}
