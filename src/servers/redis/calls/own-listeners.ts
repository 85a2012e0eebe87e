import type { Released } from '../../answers.ts'
import { converted } from '../scripts/convert.ts'
import type { Binding } from '../scripts/script.ts'

/**
 * The number to subtract from the listeners that a script counts, so that only other clients count.
 * With -1, one more client counts.
 */
export type OwnListeners = -1 | 0 | 1

type KeptOrGone = Exclude<Released, { readonly kind: 'freed' }>

type CountedRelease = KeptOrGone | { readonly kind: 'freed'; readonly listeners: number }

/** Replaces the listeners that a script counts by the number of other clients that wait. */
export function othersOf(answer: CountedRelease, own: OwnListeners): Released {
  if (answer.kind !== 'freed') return answer
  return { kind: 'freed', others: Math.max(0, answer.listeners - own) }
}

/**
 * Returns a function that selects the binding for a number of own listeners. The three bindings are
 * made once.
 */
export function withOthers<Names, Given>(
  binding: Binding<Names, Given, CountedRelease>,
): (own: OwnListeners) => Binding<Names, Given, Released> {
  const all = ([-1, 0, 1] as const).map((own) =>
    converted(binding, (answer) => othersOf(answer, own)),
  )
  return (own) => all[own + 1] as Binding<Names, Given, Released>
}
