/** Every copy of the package marks its handles with this symbol. */
export const COPY = Symbol.for('holdfast.copy')
