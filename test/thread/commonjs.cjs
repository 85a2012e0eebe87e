// The CommonJS build finds its worker too: blocks for longer than a lease, then says whether it holds.
const { Holdfast } = require('../../dist/cjs/index.js')

async function main() {
  const client = new Holdfast({ redis: process.argv[2], leaseMs: 3_000, watchdogThread: true })
  const lease = await client.getLock('commonjs').lock()
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 4_500)
  process.stdout.write(`${JSON.stringify({ valid: lease.valid })}\n`)
  await client.close()
}

void main()
