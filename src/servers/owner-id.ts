/** Returns the client id in `<clientId>:<owner>`. A client id alone is returned unchanged. */
export function clientOf(clientOrOwner: string): string {
  const colon = clientOrOwner.indexOf(':')
  return colon === -1 ? clientOrOwner : clientOrOwner.slice(0, colon)
}

/** True for an owner id of Holdfast. An owner id of Redisson begins with a UUID. */
export function isOfHoldfast(owner: string): boolean {
  return /^[\w-]{21}:/.test(owner)
}
