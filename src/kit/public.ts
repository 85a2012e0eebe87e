/**
 * The public members of a class without `toJSON`, as an interface. A test can implement this interface, but not a class
 * with private members.
 */
export type Public<T> = Pick<T, Exclude<keyof T, 'toJSON'>>
