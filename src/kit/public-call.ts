/** A function of the library that its users call. */
type PublicMethod = (...args: never) => unknown

/**
 * The public method that is running, until it returns. Stack traces of its callers begin after it.
 * It is undefined after an `await` and in callbacks.
 */
export const publicCall: { method: PublicMethod | undefined } = { method: undefined }
