import type { Subscription } from '../../subscription.ts'
import type { Request } from '../scripts/script.ts'
import type { LockKeys } from './keys.ts'

/** The parts of a server that such a kind uses. */
export interface KindScripts {
  readonly runner: { request<A>(request: Request<A>): Promise<A> }
  listen(keys: Pick<LockKeys, 'channel'>, onWake: (message?: string) => void): Subscription
}

/** A kind on Redis that is no member of `LockServer`. */
export interface RedisKind {
  /** The type of the key with the raw name. */
  readonly type: string
  /** The prefix of a second key, which exists while the first key has this kind. */
  readonly mark: string
  /** The words in errors for a name that the kind uses. */
  readonly what: string
  open(server: KindScripts, rawName: string): object
}

/** These kinds by the folders of their scripts. */
export type RedisKinds = ReadonlyMap<string, RedisKind>
