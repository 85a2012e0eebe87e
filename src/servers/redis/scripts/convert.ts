import { odd } from './reading.ts'
import type { Binding } from './script.ts'

/** Returns a binding that converts the answer. `convert` throws if the answer is invalid for the caller. */
export function converted<Names, Given, From, To>(
  binding: Binding<Names, Given, From>,
  convert: (answer: From) => To,
): Binding<Names, Given, To> {
  return { ...binding, read: (reply) => convert(binding.read(reply)) }
}

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
  const read = (reply: unknown) => {
    const answer = binding.read(reply)
    if (!isPossible(answer)) throw odd()
    return answer
  }
  return { ...binding, read }
}
