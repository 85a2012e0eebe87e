/**
 * The public members of a class, as an interface that a test can implement. Private members of a class would prevent
 * that. `toJSON` is not included.
 */
export type Public<T> = Pick<T, Exclude<keyof T, 'toJSON'>>
