import type { KindClient } from '../../server-kind.ts'
import type { Subscription } from '../../subscription.ts'
import type { LockKeys } from './keys.ts'
import type { ScriptServer } from './script-runner.ts'
import type { KeyOfKind } from './wrong-type.ts'

/** The parts of a server that such a kind uses. */
export interface KindScripts extends ScriptServer {
  listen(keys: Pick<LockKeys, 'channel'>, onWake: (message?: string) => void): Subscription
}

/** A kind on Redis that is no member of `LockServer`. */
export interface RedisKind extends KeyOfKind {
  open(server: KindScripts, client: KindClient): object
}

/** These kinds by the folders of their scripts. */
export type RedisKinds = ReadonlyMap<string, RedisKind>
