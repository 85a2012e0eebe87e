import { setTimeout as pause } from 'node:timers/promises'
import {
  type BeforeApplicationShutdown,
  Global,
  Inject,
  Injectable,
  Logger,
  Module,
} from '@nestjs/common'
import { Holdfast } from 'holdfast'

/** The injection token of the client, for `@Inject`. */
export const HOLDFAST = Symbol('holdfast')

const { REDIS_URL = 'redis://127.0.0.1:6379', DRAIN_MS = '20000' } = process.env

@Global()
@Module({
  providers: [{ provide: HOLDFAST, useFactory: () => new Holdfast({ redis: REDIS_URL }) }],
  exports: [HOLDFAST],
})
export class HoldfastModule implements BeforeApplicationShutdown {
  readonly #holdfast: Holdfast
  readonly #logger = new Logger(HoldfastModule.name)

  constructor(@Inject(HOLDFAST) holdfast: Holdfast) {
    this.#holdfast = holdfast
    holdfast.on('error', (error) => this.#logger.warn(error.message))
  }

  async beforeApplicationShutdown(): Promise<void> {
    for (const { name, token } of await this.#holdfast.close({ drainMs: Number(DRAIN_MS) })) {
      this.#logger.error(`The work under "${name}" (token ${token}) was not finished`)
    }
  }
}

@Injectable()
export class Orders {
  readonly #holdfast: Holdfast

  constructor(@Inject(HOLDFAST) holdfast: Holdfast) {
    this.#holdfast = holdfast
  }

  ship(order: string): Promise<string> {
    return this.#holdfast.getLock(`order:${order}`).using(async (lease) => {
      await pause(1_000, undefined, { signal: lease.signal }) // The work, which stops at a loss.
      lease.assertValid()
      return `shipped ${order}`
    })
  }
}

@Module({ imports: [HoldfastModule], providers: [Orders], exports: [Orders] })
export class AppModule {}
