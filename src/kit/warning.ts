/** Emits a process warning about a use that works, but probably not as the user meant it. */
export function warn(code: `HOLDFAST_${string}`, text: string): void {
  process.emitWarning(text, { type: 'HoldfastWarning', code })
}
