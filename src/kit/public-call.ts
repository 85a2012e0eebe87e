type PublicMethod = (...args: never) => unknown

/**
 * The public method that runs now, until its first `await`. Otherwise undefined. A recorded stack
 * begins with the caller of this method.
 */
export const publicCall: { method: PublicMethod | undefined } = { method: undefined }
