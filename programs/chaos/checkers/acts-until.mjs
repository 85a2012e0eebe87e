/**
 * Until when a holder assumes that it may act. A client that closes takes back its leases before its holders report
 * that they have left.
 */
export const actsUntil = ({ validUntil, closedAt = Infinity, lostAt = Infinity }) =>
  Math.min(validUntil, closedAt, lostAt)
