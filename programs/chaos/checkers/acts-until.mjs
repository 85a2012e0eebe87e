/**
 * Until when a holder may act, as far as it believes. To have left is told a moment later than a client
 * that closes takes back its leases.
 */
export const actsUntil = ({ validUntil, closedAt = Infinity, lostAt = Infinity }) =>
  Math.min(validUntil, closedAt, lostAt)
