import { rmSync } from 'node:fs'

/** Removes the folders of the servers, even of workers that crashed. */
export default function tearDown(): void {
  const dir = process.env.HOLDFAST_TEST_DIR
  if (dir) rmSync(dir, { recursive: true, force: true })
}
