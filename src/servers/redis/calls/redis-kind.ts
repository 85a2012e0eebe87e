import type { KindClient } from '../../server-kind.ts'
import type { Subscription } from '../../subscription.ts'
import type { KindScriptServer } from './renew.ts'
import type { KeyOfKind } from './wrong-type.ts'

/** The parts of a server that a kind of lock on Redis uses. */
export interface KindScripts extends KindScriptServer {
  /** How long a call in the background may take, in milliseconds. */
  readonly timeoutMs: number
  beforeClose(closing: Closing): void
  /** Calls `onWake` with each message. A call without a message means that messages may have been lost. */
  listenTo(inbox: string, onWake: (message?: string) => void): Subscription
  publish(channel: string, message: string, callMs: number): Promise<unknown>
}

/** The work that a kind finishes before the client closes. */
export interface Closing {
  /** Resolves when the work is done. */
  quiet(): Promise<void>
  /** Drops all work that is not done. */
  stopTimer(): void
}

/** A kind of lock on Redis. Plain locks have no `RedisKind`, because `RedisServer` provides them. */
export interface RedisKind extends KeyOfKind {
  open(server: KindScripts, client: KindClient): object
}

/** The kinds on Redis, by name. The name is also the folder of the kind's scripts in lua/. */
export type RedisKinds = ReadonlyMap<string, RedisKind>
