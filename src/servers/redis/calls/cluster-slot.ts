/**
 * Returns the cluster slot of a key: CRC16 (XMODEM) of its `{tag}`, or of the whole key, modulo
 * 16384.
 *
 * @see https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/
 */
export function slotOf(key: string): number {
  const open = key.indexOf('{')
  const closingBrace = open === -1 ? -1 : key.indexOf('}', open + 1)
  const tag = closingBrace > open + 1 ? key.slice(open + 1, closingBrace) : key
  let crc = 0
  for (const byte of Buffer.from(tag)) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) {
      crc = ((crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021) & 0xffff
    }
  }
  return crc % 16_384
}

/**
 * Returns the cluster slot of a lock as text of five digits. Clients sort locks by this text, so
 * that the locks of one slot are together.
 */
export function orderBySlot(rawName: string): string {
  return String(slotOf(rawName)).padStart(5, '0')
}

/**
 * Returns the indices of the leases, grouped by slot, because all keys of a script must be in one
 * slot.
 */
export function groupBySlot(leases: readonly { readonly rawName: string }[]): number[][] {
  const slots = new Map<number, number[]>()
  for (const [i, { rawName }] of leases.entries()) {
    const slot = slotOf(rawName)
    const group = slots.get(slot)
    if (group === undefined) slots.set(slot, [i])
    else group.push(i)
  }
  return [...slots.values()]
}
