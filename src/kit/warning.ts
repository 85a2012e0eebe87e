/**
 * Emits a process warning about code that is allowed, but that probably does not do what the user
 * wants.
 */
export function warn(code: `HOLDFAST_${string}`, text: string): void {
  process.emitWarning(text, { type: 'HoldfastWarning', code })
}
