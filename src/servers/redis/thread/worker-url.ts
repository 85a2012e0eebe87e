/** Where the worker's program lies, beside this file. The build has a CommonJS form of this. */
export function workerUrl(): URL {
  // Looked at when the thread is started, for bundles may have no such thing; and by itself, or they would take
  // that one file along and not what it imports.
  // @ts-ignore TS1343: the CommonJS build does not take `import.meta`, and replaces this file.
  const here: string = import.meta.url
  return new URL('./renewal-worker.js', here)
}
