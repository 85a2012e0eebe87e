/** Where the worker's program lies, beside this file. The build has a CommonJS form of this. */
// @ts-ignore TS1343: the CommonJS build does not take `import.meta`, and replaces this file.
export const workerUrl = new URL('./renewal-worker.js', import.meta.url)
