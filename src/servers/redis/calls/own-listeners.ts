import type { Released } from '../../answers.ts'
import { converted } from '../scripts/convert.ts'
import type { Binding } from '../scripts/script.ts'

/**
 * How many of the listeners that a script counts belong to this client. The value -1 adds one
 * listener, because a node of a cluster does not count the listeners at other nodes.
 */
export type OwnListeners = -1 | 0 | 1

type KeptOrGone = Exclude<Released, { readonly kind: 'freed' }>

type CountedRelease = KeptOrGone | { readonly kind: 'freed'; readonly listeners: number }

/** Converts the counted listeners to the number of other clients that wait. */
export function othersOf(answer: CountedRelease, own: OwnListeners): Released {
  if (answer.kind !== 'freed') return answer
  return { kind: 'freed', others: Math.max(0, answer.listeners - own) }
}

/** Makes one value for each number of own listeners. Returns a function that selects a value. */
export function forEachOwn<T>(make: (own: OwnListeners) => T): (own: OwnListeners) => T {
  const all = ([-1, 0, 1] as const).map(make)
  return (own) => all[own + 1] as T
}

/** Makes one binding for each number of own listeners. Returns a function that selects a binding. */
export function withOthers<Names, Given>(
  binding: Binding<Names, Given, CountedRelease>,
): (own: OwnListeners) => Binding<Names, Given, Released> {
  return forEachOwn((own) => converted(binding, (answer) => othersOf(answer, own)))
}
