import type { Holdfast } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'

/** Waits until the client has confirmed `count` renewals from now on. */
export async function renewals(client: Holdfast, count: number): Promise<void> {
  let seen = 0
  const onRenewed = () => {
    seen += 1
  }
  client.on('renewed', onRenewed)
  await eventually(() => seen >= count, { message: `${count} renewals`, timeoutMs: 10_000 })
  client.off('renewed', onRenewed)
}
