export interface WatchdogThreadOptions {
  /**
   * If the main thread is silent for this long, in milliseconds, the worker thread stops its renewals, because the main
   * thread may hang permanently.
   *
   * @default 60_000
   */
  silenceLimitMs?: number
  /**
   * The program of the thread: the file that a bundler made of `holdfast/renewal-worker`, as an absolute path or a
   * `file:` URL.
   *
   * @default the file in the package
   */
  workerUrl?: string | URL
}
