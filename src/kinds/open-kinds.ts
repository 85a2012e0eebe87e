import type { Holdings } from '../local/holdings.ts'
import type { KindDescriptor, KindHost, OpenKind } from './kind.ts'

type ClientOfKinds = Pick<KindHost, 'owners' | 'backend' | 'rawName'>
type KindList = readonly KindDescriptor<object>[]
type Method = (...args: unknown[]) => unknown

/**
 * The kinds of one client that need a single server. If the client has independent masters, the
 * methods of these kinds throw an error.
 */
export class OpenKinds {
  readonly #open: readonly OpenKind<object>[]
  readonly #methods: Record<string, Method> = {}

  constructor(
    kinds: KindList,
    client: ClientOfKinds,
    settings: { readonly label: string; readonly outageMs: number },
  ) {
    const { owners, backend } = client
    const { label, outageMs } = settings
    const ofClient = { clientId: owners.clientId, label, outageMs }
    const host: KindHost = {
      owners,
      backend,
      label,
      outageMs,
      requests: (kind) => backend.registry.server.kind?.(kind, ofClient),
      rawName: (name, what) => client.rawName(name, what),
      call: (name, ...args) => this.call(name, args),
    }
    this.#open = kinds.map((kind) => kind.open(host))
    for (const { methods } of this.#open) Object.assign(this.#methods, methods)
  }

  call(name: string, args: unknown[]): unknown {
    return this.#methods[name]?.(...args)
  }

  /** The holds and waits that belong to no lock, such as calls that await a latch. */
  get holdings(): Holdings {
    const all = this.#open.map((kind) => kind.holdings?.() ?? {})
    return {
      held: all.flatMap(({ held = [] }) => held),
      waiting: all.flatMap(({ waiting = [] }) => waiting),
    }
  }

  /** Begins to drain all kinds. Resolves when `holdings` contains no hold. */
  async drain(): Promise<void> {
    await Promise.all(this.#open.map((kind) => kind.drain?.()))
  }

  /** Called when the client closes. The client itself closes the locks of these kinds. */
  async shutDown(): Promise<void> {
    await Promise.all(this.#open.map((kind) => kind.shutDown?.()))
  }

  /** Called when the client closes, after the release of all locks. */
  stopHeartbeat(): void {
    for (const kind of this.#open) kind.stopHeartbeat?.()
  }
}

/**
 * Adds the methods of the kinds to the class of the client.
 *
 * @param kindsOf returns the open kinds of a client
 */
export function addKindMethods<C extends object>(
  Client: { readonly prototype: C },
  kinds: KindList,
  kindsOf: (client: C) => OpenKinds,
): void {
  for (const name of kinds.flatMap(({ names }) => names)) {
    // The object literal gives the function the name of the method, so that the stack of an error
    // shows this name.
    const { [name]: value } = {
      [name](this: C, ...args: unknown[]): unknown {
        return kindsOf(this).call(name, args)
      },
    }
    const descriptor = { value, configurable: true, writable: true }
    Object.defineProperty(Client.prototype, name, descriptor)
  }
}
