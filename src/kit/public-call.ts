/** A function of the library that its users call. */
type PublicMethod = (...args: never) => unknown

/**
 * The public method that is running; undefined when it has returned, after an `await`, and in
 * callbacks. A recorded stack begins with the caller of this method.
 */
export const publicCall: { method: PublicMethod | undefined } = { method: undefined }
