import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'

/** One payment, as the server has booked it. */
export interface Payment {
  readonly order: string
  readonly key: string
}

/** A payment whose answer never leaves. */
export interface HeldPayment extends Payment {
  /** Resolves when its client waits no longer. */
  readonly left: Promise<unknown>
}

/** A payment service on the loopback interface. It ignores idempotency keys: what is sent twice is paid twice. */
export interface PaymentServer {
  readonly url: string
  payments(): readonly Payment[]
  /** Resolves when the next payment of an order with this beginning is booked; its answer never leaves. */
  holdNext(orderPrefix: string): Promise<HeldPayment>
  close(): Promise<void>
}

/** @param answerMs The longest pause before and after booking, so that processes are killed on both sides of it. */
export async function startPaymentServer(answerMs: number): Promise<PaymentServer> {
  const payments: Payment[] = []
  const holds: { readonly prefix: string; readonly booked: (payment: HeldPayment) => void }[] = []
  const server = createServer((request, response) => {
    const answer = (body: unknown): void => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(body))
    }
    if (request.method === 'GET') {
      const key = new URL(request.url ?? '', 'http://here').searchParams.get('key')
      answer(payments.filter((payment) => payment.key === key))
      return
    }
    void (async () => {
      const payment = await paymentOf(request)
      if (payment === undefined) return
      // At once when its client has gone: a worker that takes over must find what was sent, however slow this process is.
      await Promise.race([sleep(Math.random() * answerMs), once(response, 'close')])
      payments.push(payment)
      const held = holds.findIndex(({ prefix }) => payment.order.startsWith(prefix))
      if (held >= 0) {
        const left = once(response, 'close')
        for (const { booked } of holds.splice(held, 1)) booked({ ...payment, left })
        return
      }
      await sleep(Math.random() * answerMs)
      answer(payment)
    })()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    payments: () => payments,
    holdNext: (prefix) => new Promise((booked) => holds.push({ prefix, booked })),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Undefined for a request whose client died before it was sent whole. */
async function paymentOf(request: IncomingMessage): Promise<Payment | undefined> {
  try {
    return (await json(request)) as Payment
  } catch {
    return undefined
  }
}
