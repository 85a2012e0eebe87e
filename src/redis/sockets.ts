/**
 * An idle connection, or one that waits to reconnect, must not keep a program alive that is done.
 * ioredis has no option for that, hence its two fields.
 */
export function unrefSockets(client: object): void {
  const inner = client as {
    on(event: string, listener: () => void): void
    stream?: { unref?(): void }
    reconnectTimeout?: { unref?(): void } | null
  }
  inner.on('connect', () => inner.stream?.unref?.())
  inner.on('reconnecting', () => setImmediate(() => inner.reconnectTimeout?.unref?.()).unref())
}
