type PublicMethod = (...args: never) => unknown

/**
 * The public method that is running, until its first `await`; undefined outside public methods. A
 * recorded stack begins with the caller of this method.
 */
export const publicCall: { method: PublicMethod | undefined } = { method: undefined }
