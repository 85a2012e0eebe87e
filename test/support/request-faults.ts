import type { Action } from './proxy.ts'

/** What can happen to one request on its way, and to its reply. */
export interface Fault {
  fault: string
  action: Action
  /** When the proxy lets go of what it holds back; at once or never for the other actions. */
  releases?: 'while held' | 'when all is released'
}

/** All that a request has to stand. */
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
