/**
 * What others may use of a class, and so may stand in for in their tests: a class with private members is
 * no type that anything else can have. How it is printed is no part of it.
 */
export type Public<T> = Pick<T, Exclude<keyof T, 'toJSON'>>
