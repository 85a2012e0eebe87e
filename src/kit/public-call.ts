type PublicMethod = (...args: never) => unknown

/**
 * The public method that is running. Undefined after its first `await`, after its return, and in
 * callbacks. A recorded stack begins with the caller of this method.
 */
export const publicCall: { method: PublicMethod | undefined } = { method: undefined }
