/** An import, as the file writes it. */
export interface Specifier {
  readonly to: string
  readonly typeOnly: boolean
}

const STATEMENT =
  /\b(?:import|export)\s+(?<type>type\s+)?(?:[\w*{}\s,$]*?\sfrom\s*)?'(?<to>[^']+)'|\b(?:import|require|requireActual|mock)\(\s*'(?<call>[^']+)'/g

/** Returns all imports of a TypeScript or JavaScript file, except imports in comments. */
export function specifiersOf(text: string): Specifier[] {
  const code = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
  return [...code.matchAll(STATEMENT)].map(({ groups }) => ({
    to: groups?.to ?? groups?.call ?? '',
    typeOnly: groups?.type !== undefined,
  }))
}
