// One clock for all processes of the run: milliseconds since its start, on the monotonic clock that
// the processes of a machine share.
let zero = read()

function read() {
  return Number(process.hrtime.bigint()) / 1e6
}

export const now = () => read() - zero

/** The start of the run. The other processes need this time. */
export const startOfRun = () => zero

export function setStartOfRun(value) {
  zero = value
}
