import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../ports.ts'
import { startRedis } from '../redis-server.ts'
import { newServerFolder } from '../server-process.ts'
import { makeCertificates } from './certificates.ts'
import type { Place } from './place.ts'

/** One server that takes clients by TLS only, and only with a certificate; the tests look at it without. */
export async function startTlsPlace(): Promise<Place & { port: number; ca: string }> {
  const { ca, server: own, client } = makeCertificates()
  const folder = newServerFolder()
  const write = (name: string, pem: string) => {
    const file = join(folder, name)
    writeFileSync(file, pem)
    return file
  }
  const port = await freePort()
  const server = await startRedis({
    config: {
      'tls-port': port,
      'tls-cert-file': write('server.crt', own.cert),
      'tls-key-file': write('server.key', own.key),
      'tls-ca-cert-file': write('ca.crt', ca),
      'tls-auth-clients': 'yes',
    },
  })
  const tls = { ca, cert: client.cert, key: client.key }
  return { server, port, ca, way: () => ({ redis: { host: server.host, port, tls } }) }
}
