/** Warns of something that works, but hardly as it was meant: a process warning, which is printed unless somebody listens. */
export function warn(code: `HOLDFAST_${string}`, text: string): void {
  process.emitWarning(text, { type: 'HoldfastWarning', code })
}
