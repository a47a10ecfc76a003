import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { ServerAddress } from './conformance-options.ts'

/** What lies between a log and its server: a port of the loopback that passes bytes on, and can fail to. */
export interface BreakableConnection {
  /** Of 127.0.0.1. */
  readonly port: number
  /** How many statements or answers were lost since the connection was last told to lose one. */
  lost(): number
  /**
   * Loses what the server says in the `nth` moment from now at which it says something. The server carries out what has
   * reached it, and only then is the connection broken.
   */
  loseAnswer(nth: number): void
  /** Loses what the log next sends, and breaks the connection. */
  loseStatement(): void
  /** Breaks every connection and refuses new ones. */
  cut(): void
  /** Holds back everything that is sent, and answers no new connection. */
  freeze(): void
  /** Passes on again, first what was held back, and accepts connections. */
  heal(): void
  close(): Promise<void>
}

interface Link {
  readonly client: Socket
  readonly server: Socket
}

// oxlint-disable-next-line max-lines-per-function -- a factory: it only returns methods
export async function openBreakableConnection(target: ServerAddress): Promise<BreakableConnection> {
  const links = new Set<Link>()
  let state: 'whole' | 'frozen' | 'cut' = 'whole'
  let answersUntilLoss = 0
  let losesStatement = false
  let lost = 0

  const listener = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    if (state === 'cut') {
      client.on('error', () => {}).destroy()
      return
    }
    const server = connect({ ...target, allowHalfOpen: true, noDelay: true })
    const link = { client, server }
    links.add(link)
    client.on('data', (bytes) => {
      if (!losesStatement) {
        server.write(bytes)
        return
      }
      losesStatement = false
      lost += 1
      destroy(link)
    })
    server.on('data', (bytes) => {
      if (answersUntilLoss > 0) {
        answersUntilLoss -= 1
        if (answersUntilLoss === 0) {
          lost += 1
          breakWhenDone(link)
          return
        }
      }
      client.write(bytes)
    })
    client.on('end', () => server.end())
    server.on('end', () => client.end())
    for (const socket of [client, server]) {
      // An error is followed by `close`.
      socket.on('error', () => {})
      socket.on('close', () => destroy(link))
      if (state === 'frozen') socket.pause()
    }
  })

  function destroy(link: Link): void {
    links.delete(link)
    link.client.destroy()
    link.server.destroy()
  }

  /** A server that is told that no more comes has ended its side when it has done what came before. */
  function breakWhenDone({ client, server }: Link): void {
    client.pause()
    server.removeAllListeners('data').resume().end()
    server.once('end', () => client.destroy())
  }

  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  return {
    port: (listener.address() as AddressInfo).port,
    lost: () => lost,
    loseAnswer(nth) {
      lost = 0
      answersUntilLoss = nth
    },
    loseStatement() {
      lost = 0
      losesStatement = true
    },
    cut() {
      state = 'cut'
      for (const link of links) destroy(link)
    },
    freeze() {
      state = 'frozen'
      for (const { client, server } of links) for (const socket of [client, server]) socket.pause()
    },
    heal() {
      state = 'whole'
      answersUntilLoss = 0
      losesStatement = false
      for (const { client, server } of links) for (const socket of [client, server]) socket.resume()
    },
    async close() {
      for (const link of links) destroy(link)
      listener.close()
      await once(listener, 'close')
    },
  }
}
