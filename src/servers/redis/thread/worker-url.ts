/**
 * Returns the file of the worker's program, beside this file. The build puts the two files into
 * one folder.
 */
export function workerUrl(): URL {
  // Bundlers may not support `import.meta.url`, so this function reads it only when the thread
  // starts. If `import.meta.url` were inside `new URL()`, bundlers would copy that file without its
  // imports.
  const here: string = import.meta.url
  return new URL('./renewal-worker.js', here)
}
