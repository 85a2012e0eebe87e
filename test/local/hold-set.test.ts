import type { Hold } from '../../src/lease/hold.ts'
import { HoldSet } from '../../src/local/hold-set.ts'
import { Owner } from '../../src/owner/owner.ts'

const [A, B] = [new Owner('c', 'a'), new Owner('c', 'b')] as const
const shared = { name: 'read', isShared: true } as const
const exclusive = { name: 'write', isShared: false } as const

const holdOf = (owner: Owner, kind: Hold['kind']) => ({ owner, kind }) as Hold

class Opened extends HoldSet {
  constructor(...holds: Hold[]) {
    super()
    for (const hold of holds) this.add(hold)
  }

  override notBeside(hold: Hold): Hold[] {
    return super.notBeside(hold)
  }

  override remove(hold: Hold): boolean {
    return super.remove(hold)
  }
}

test.each([
  ['a shared hold does not block another shared hold', shared, B, shared, false],
  ['a shared hold blocks an exclusive hold of another owner', shared, B, exclusive, true],
  ['a shared hold does not block its own owner', shared, A, exclusive, false],
  ['an exclusive hold blocks a shared hold of another owner', exclusive, B, shared, true],
  ['an exclusive hold blocks an exclusive hold of another owner', exclusive, B, exclusive, true],
  ['an exclusive hold does not block its own owner', exclusive, A, shared, false],
])('%s', (_, held, owner, kind, isKeptOut) => {
  const hold = holdOf(A, held)
  const set = new Opened(hold)
  expect(set.excludes({ owner, kind })).toBe(isKeptOut)
  // If the server grants the lock in spite of this hold, the hold has ended.
  expect(set.notBeside(holdOf(owner, kind))).toEqual(isKeptOut ? [hold] : [])
})

test('a new exclusive hold of an owner replaces the exclusive hold before it', () => {
  const hold = holdOf(A, exclusive)
  expect(new Opened(hold).notBeside(holdOf(A, exclusive))).toEqual([hold])
})

test('an owner may have a shared hold beside an exclusive hold, and finds each by its kind', () => {
  const [writing, reading] = [holdOf(A, exclusive), holdOf(A, shared)]
  const set = new Opened(writing, reading)
  expect(set.all).toEqual([writing, reading])
  expect([set.of(A, exclusive), set.of(A, shared)]).toEqual([writing, reading])
  expect([set.of(B, exclusive), set.of(B, shared)]).toEqual([undefined, undefined])
  expect(set.excludes({ owner: B, kind: shared })).toBe(true)
  expect(set.remove(writing)).toBe(true)
  expect(set.excludes({ owner: B, kind: shared })).toBe(false)
  expect(set.excludes({ owner: B, kind: exclusive })).toBe(true)
  expect([set.remove(reading), set.isEmpty, set.remove(reading)]).toEqual([true, true, false])
})
