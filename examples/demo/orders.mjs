// The file of orders, its accounts, and the correct balances at the end.
import { readFileSync } from 'node:fs'

/** Most orders use these accounts, so several workers want their locks at the same time. */
export const HOT_ACCOUNTS = ['alice', 'bob', 'carol', 'dave', 'erin', 'frank']
export const ACCOUNTS = [
  ...HOT_ACCOUNTS,
  ...['grace', 'heidi', 'ivan', 'judy', 'kim', 'leo', 'mia', 'nina', 'oscar', 'peggy'],
]
/** The opening balance of each account, in cents, because sums of whole numbers are exact. */
export const OPENING_CENTS = 1_000_000

const FILE = new URL('orders.csv', import.meta.url)

/** @typedef {{ id: number, payer: string, payee: string, cents: number }} Order */

/** @returns {Order[]} */
export function readOrders() {
  const [, ...lines] = readFileSync(FILE, 'utf8').trim().split('\n')
  return lines.map((line) => {
    const [id, payer, payee, cents] = line.split(',')
    return { id: Number(id), payer, payee, cents: Number(cents) }
  })
}

/** The correct balances. This function applies the orders one after another, without concurrency. */
export function balancesAfter(orders) {
  const balances = new Map(ACCOUNTS.map((account) => [account, OPENING_CENTS]))
  for (const { payer, payee, cents } of orders) {
    balances.set(payer, balances.get(payer) - cents)
    balances.set(payee, balances.get(payee) + cents)
  }
  return balances
}
