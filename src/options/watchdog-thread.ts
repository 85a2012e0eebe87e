export interface WatchdogThreadOptions {
  /**
   * If the main thread is silent for this long, in milliseconds, the worker thread stops its renewals. The main thread
   * may hang forever, and the locks must become free.
   *
   * @default 60_000
   */
  silenceLimitMs?: number
  /**
   * The program of the thread, as an absolute path or a `file:` URL: the file that a bundler made of
   * `holdfast/renewal-worker`.
   *
   * @default the file in the package
   */
  workerUrl?: string | URL
}
