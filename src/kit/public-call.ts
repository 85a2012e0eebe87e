/** A function of the library that its users call. */
type PublicMethod = (...args: never) => unknown

/**
 * The public method that the running code is in, for as long as that has not returned: stacks of its callers begin
 * behind it. Undefined after an `await`, and in callbacks.
 */
export const publicCall: { method: PublicMethod | undefined } = { method: undefined }
