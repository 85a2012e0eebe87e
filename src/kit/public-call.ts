type PublicMethod = (...args: never) => unknown

/**
 * The public method that is running, until its first `await`; undefined outside public methods. The
 * stacks that `heldWarningMs` records begin with the caller of this method.
 */
export const publicCall: { method: PublicMethod | undefined } = { method: undefined }
