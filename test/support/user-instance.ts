import { type Cluster, Redis } from 'ioredis'
import { allow, openSocket } from './allowances.ts'
import { eventually } from './eventually.ts'

const EVENTS = ['ready', 'connect', 'close', 'end', 'error', 'message', 'reconnecting']
/** Some events are missing here, because a `Cluster` has its own listeners for them while it connects. */
const EVENTS_OF_CLUSTER = ['error', 'message', 'smessage', '+node', '-node', 'node error']

/** An ioredis client of a user, which Holdfast uses. Holdfast must not change it. */
export class UserInstance<Client extends Redis | Cluster = Redis> {
  readonly redis: Client
  readonly #before: unknown
  readonly #withdraw: () => void

  constructor(redis: Client) {
    this.redis = redis
    this.redis.on('error', () => undefined)
    this.#before = this.#state()
    const stream = () => (this.redis as { stream?: { destroyed: boolean } }).stream
    this.#withdraw = allow('TCPSocketWrap', () => openSocket(stream()))
  }

  /**
   * Call this after the Holdfast client was closed. Checks that the user's client is unchanged and still connected, or
   * not connected if it is lazy. Then ends it.
   */
  async checkAndEnd(): Promise<void> {
    try {
      if (this.redis.options.lazyConnect) expect(this.redis.status).toBe('wait')
      else {
        await eventually(async () => (await this.redis.ping()) === 'PONG', {
          message: "the user's own client to answer after Holdfast was closed",
        })
        expect(this.redis.status).toBe('ready')
      }
      expect(this.#state()).toEqual(this.#before)
    } finally {
      if (this.redis.status !== 'end') this.redis.disconnect()
      this.#withdraw()
    }
  }

  #state() {
    const { redis } = this
    return {
      options: { ...redis.options },
      listeners: (redis.isCluster ? EVENTS_OF_CLUSTER : EVENTS).map(
        (event) => `${event}: ${redis.listenerCount(event)}`,
      ),
      commands: Object.keys(redis).filter((key) => typeof Reflect.get(redis, key) === 'function'),
    }
  }
}

/** Returns a user's client for this server. */
export function connectedInstance({ host, port }: { host: string; port: number }): UserInstance {
  return new UserInstance(new Redis({ host, port, retryStrategy: () => 20, disconnectTimeout: 20 }))
}
