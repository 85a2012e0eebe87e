import type { Action } from './proxy.ts'

/** A fault of one request or of its reply. */
export interface Fault {
  fault: string
  action: Action
  /** When the test makes the proxy deliver what it holds back. Missing if the action holds nothing back. */
  releases?: 'while held' | 'when all is released'
}

/** All faults that the client must tolerate for each request. */
export const faults: readonly Fault[] = [
  { fault: 'the request is lost with the connection', action: 'cutBefore' },
  { fault: 'the reply is lost with the connection', action: 'cutAfter' },
  { fault: 'the reply is swallowed on a living connection', action: 'mute' },
  { fault: 'the request is delivered twice', action: 'duplicate' },
  {
    fault: 'the request arrives after its deadline',
    action: 'hold',
    releases: 'while held',
  },
  {
    fault: 'the request arrives when all has been released',
    action: 'hold',
    releases: 'when all is released',
  },
  {
    fault: 'the reply comes after its deadline',
    action: 'holdReply',
    releases: 'while held',
  },
]
