import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

/** A certificate and its key, as PEM. */
export interface Certificate {
  readonly cert: string
  readonly key: string
}

interface Keys {
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

/**
 * Makes certificates with Node.js alone: an authority, a server certificate for `127.0.0.1`, and a client certificate.
 * The authority signs both.
 */
export function makeCertificates(): { ca: string; server: Certificate; client: Certificate } {
  const authority = newKeys()
  const issue = (name: string, keys: Keys, extensions: Buffer[]): Certificate => ({
    cert: certificate({ name, keys, issuer: 'Holdfast tests', signedBy: authority, extensions }),
    key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  })
  const own = [extension('2.5.29.17', sequence(tagged(0x87, Buffer.from([127, 0, 0, 1]))))]
  return {
    ca: issue('Holdfast tests', authority, [isAuthority()]).cert,
    server: issue('server', newKeys(), own),
    client: issue('client', newKeys(), []),
  }
}

function newKeys(): Keys {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
}

/** Encodes a certificate: X.509, version 3, in DER (RFC 5280, section 4.1). */
function certificate({
  name,
  keys,
  issuer,
  signedBy,
  extensions,
}: {
  name: string
  keys: Keys
  issuer: string
  signedBy: Keys
  extensions: readonly Buffer[]
}): string {
  const day = 86_400_000
  const content = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_WITH_SHA256,
    distinguished(issuer),
    sequence(time(Date.now() - day), time(Date.now() + 30 * day)),
    distinguished(name),
    keys.publicKey.export({ type: 'spki', format: 'der' }),
    ...(extensions.length > 0 ? [tagged(0xa3, sequence(...extensions))] : []),
  )
  const signature = sign('sha256', content, signedBy.privateKey)
  const der = sequence(content, ECDSA_WITH_SHA256, bits(signature))
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}

function tagged(tag: number, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content)
  const { length } = body
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), body])
}

const sequence = (...content: readonly Buffer[]): Buffer => tagged(0x30, ...content)
const integer = (bytes: Buffer): Buffer => tagged(0x02, bytes)
const bits = (bytes: Buffer): Buffer => tagged(0x03, Buffer.from([0]), bytes)
const TRUE = tagged(0x01, Buffer.from([0xff]))
const ECDSA_WITH_SHA256 = sequence(objectId('1.2.840.10045.4.3.2'))

function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  const bytes = [first * 40 + second]
  for (const number of rest) {
    const sevens = [number & 0x7f]
    for (let left = number >> 7; left > 0; left >>= 7) sevens.unshift((left & 0x7f) | 0x80)
    bytes.push(...sevens)
  }
  return tagged(0x06, Buffer.from(bytes))
}

function distinguished(commonName: string): Buffer {
  const attribute = sequence(objectId('2.5.4.3'), tagged(0x0c, Buffer.from(commonName)))
  return sequence(tagged(0x31, attribute))
}

/** Encodes a UTCTime, for example 261123052400Z. */
function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/\D/g, '').slice(2, 14)
  return tagged(0x17, Buffer.from(`${digits}Z`))
}

function extension(id: string, value: Buffer, ...critical: readonly Buffer[]): Buffer {
  return sequence(objectId(id), ...critical, tagged(0x04, value))
}

function isAuthority(): Buffer {
  return extension('2.5.29.19', sequence(TRUE), TRUE)
}
