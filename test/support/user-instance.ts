import { Redis } from 'ioredis'
import { allow, openSocket } from './allowances.ts'
import { eventually } from './eventually.ts'
import type { RedisServer } from './redis-server.ts'

const EVENTS = ['ready', 'connect', 'close', 'end', 'error', 'message', 'reconnecting'] as const

/** An ioredis client that a user hands to the library: it must come back as it was. */
export class UserInstance {
  readonly redis: Redis
  readonly #before: unknown
  readonly #withdraw: () => void

  constructor({ host, port }: RedisServer) {
    this.redis = new Redis({ host, port, retryStrategy: () => 20, disconnectTimeout: 20 })
    this.redis.on('error', () => undefined)
    this.#before = this.#state()
    const stream = () => (this.redis as { stream?: { destroyed: boolean } }).stream
    this.#withdraw = allow('TCPSocketWrap', () => openSocket(stream()))
  }

  /** After the library's client was closed: still connected, and not changed; then the user ends it. */
  async checkAndEnd(): Promise<void> {
    try {
      await eventually(async () => (await this.redis.ping()) === 'PONG', {
        message: "the user's own client to answer after Holdfast was closed",
      })
      expect(this.redis.status).toBe('ready')
      expect(this.#state()).toEqual(this.#before)
    } finally {
      if (this.redis.status !== 'end') this.redis.disconnect()
      this.#withdraw()
    }
  }

  #state() {
    return {
      options: { ...this.redis.options },
      listeners: EVENTS.map((event) => `${event}: ${this.redis.listenerCount(event)}`),
      commands: Object.keys(this.redis).filter(
        (key) => typeof Reflect.get(this.redis, key) === 'function',
      ),
    }
  }
}
