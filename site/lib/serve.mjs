// Serves the built site on this machine alone.
import { createReadStream, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname, join, normalize } from 'node:path'

const TYPES = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
}

/**
 * @param {string} folder the built site
 * @param {{ base?: string, port?: number }} [options]
 * @returns {Promise<{ url: string, close: () => Promise<void> }>}
 */
export async function serveSite(folder, { base = '/', port = 0 } = {}) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://127.0.0.1')
    const inside = pathname.startsWith(base) ? pathname.slice(base.length) : undefined
    const found = inside === undefined ? undefined : fileFor(folder, inside)
    response.statusCode = found === undefined ? 404 : 200
    const file = found ?? join(folder, '404.html')
    response.setHeader('content-type', TYPES[extname(file)] ?? 'application/octet-stream')
    if (request.method === 'HEAD') response.end()
    else createReadStream(file).pipe(response)
  })
  await new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return {
    url: `http://127.0.0.1:${server.address().port}${base}`,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

function fileFor(folder, inside) {
  let path
  try {
    path = normalize(join(folder, decodeURIComponent(inside)))
  } catch {
    return undefined
  }
  if (!path.startsWith(normalize(folder))) return undefined
  const isFile = (one) => statSync(one, { throwIfNoEntry: false })?.isFile() === true
  return [path, join(path, 'index.html'), `${path}.html`].find(isFile)
}
