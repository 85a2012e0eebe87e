// The orders file, the accounts it speaks of, and what the balances must be in the end.
import { readFileSync } from 'node:fs'

/** The first few are in most of the orders: these are the locks that everybody wants. */
export const HOT_ACCOUNTS = ['alice', 'bob', 'carol', 'dave', 'erin', 'frank']
export const ACCOUNTS = [
  ...HOT_ACCOUNTS,
  ...['grace', 'heidi', 'ivan', 'judy', 'kim', 'leo', 'mia', 'nina', 'oscar', 'peggy'],
]
/** What is on every account at first. Money is counted in cents: whole numbers add up exactly. */
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

/** One pass over the file, one order after the other: the truth that the run is measured against. */
export function balancesAfter(orders) {
  const balances = new Map(ACCOUNTS.map((account) => [account, OPENING_CENTS]))
  for (const { payer, payee, cents } of orders) {
    balances.set(payer, balances.get(payer) - cents)
    balances.set(payee, balances.get(payee) + cents)
  }
  return balances
}
