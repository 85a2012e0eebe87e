'use strict'

/**
 * The code under test: ships an order, unless another client does. `locks` is the client, or any object with `getLock`.
 */
exports.ship = async function ship(locks, order, carrier) {
  const shipped = await locks.getLock(`order:${order}`).tryUsing(
    async (lease) => {
      await carrier.book(order, lease)
      lease.assertValid()
      await carrier.confirm(order, lease.token)
      return 'shipped'
    },
    { waitMs: 5_000 },
  )
  return shipped ?? 'busy'
}
