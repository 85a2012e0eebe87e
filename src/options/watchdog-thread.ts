export interface WatchdogThreadOptions {
  /**
   * When the main thread has been silent for this long, in milliseconds, the worker lets its leases
   * end: it may hang for good.
   *
   * @default 60_000
   */
  silenceLimitMs?: number
  /**
   * Where the program of the thread is: the file that a bundler made of `holdfast/renewal-worker`, as an
   * absolute path or a `file:` URL.
   *
   * @default the file in the package
   */
  workerUrl?: string | URL
}
