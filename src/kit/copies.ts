/**
 * Every copy of the package marks its handles with this symbol, so that a copy recognizes handles
 * of another copy.
 */
export const COPY = Symbol.for('holdfast.copy')
