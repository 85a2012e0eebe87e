import { odd } from './reading.ts'
import type { Binding } from './script.ts'

/** Narrows a binding to the answers that its caller can get. Every other answer is invalid. */
export function only<
  Names,
  Given,
  Answer extends { readonly kind: string },
  Kind extends Answer['kind'],
>(
  binding: Binding<Names, Given, Answer>,
  ...kinds: readonly Kind[]
): Binding<Names, Given, Extract<Answer, { readonly kind: Kind }>> {
  const isPossible = (answer: Answer): answer is Extract<Answer, { readonly kind: Kind }> =>
    (kinds as readonly string[]).includes(answer.kind)
  return {
    ...binding,
    read: (reply) => {
      const answer = binding.read(reply)
      if (!isPossible(answer)) throw odd()
      return answer
    },
  }
}
