import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../ports.ts'
import { startRedis } from '../redis-server.ts'
import { newServerFolder } from '../server-process.ts'
import { makeCertificates } from './certificates.ts'
import type { Place } from './place.ts'

interface TlsPlace extends Place {
  readonly port: number
  /** The files that a client needs. */
  readonly files: { readonly ca: string; readonly cert: string; readonly key: string }
}

/**
 * Starts one server that accepts clients only with TLS and a client certificate. The tests inspect the server without
 * TLS.
 */
export async function startTlsPlace(): Promise<TlsPlace> {
  const { ca, server: own, client } = makeCertificates()
  const folder = newServerFolder()
  const write = (name: string, pem: string) => {
    const file = join(folder, name)
    writeFileSync(file, pem)
    return file
  }
  const files = {
    ca: write('ca.crt', ca),
    cert: write('client.crt', client.cert),
    key: write('client.key', client.key),
  }
  const port = await freePort()
  const server = await startRedis({
    config: {
      'tls-port': port,
      'tls-cert-file': write('server.crt', own.cert),
      'tls-key-file': write('server.key', own.key),
      'tls-ca-cert-file': files.ca,
      'tls-auth-clients': 'yes',
    },
  })
  const tls = { ca, cert: client.cert, key: client.key }
  return { server, port, files, way: () => ({ redis: { host: server.host, port, tls } }) }
}
