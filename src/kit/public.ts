/**
 * The public members of a class, without `toJSON`. A test can implement this type. A test cannot implement a class with
 * private members.
 */
export type Public<T> = Pick<T, Exclude<keyof T, 'toJSON'>>
