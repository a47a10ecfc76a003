import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

/** One payment, as the server has booked it. */
export interface Payment {
  readonly id: string
  readonly order: string
  readonly cents: number
}

/** A payment service on the loopback interface. It ignores idempotency keys: what is sent twice is paid twice. */
export interface PaymentServer {
  readonly url: string
  payments(): readonly Payment[]
  /** Resolves when a payment is booked whose answer is not sent yet. */
  readonly booked: Promise<void>
  close(): Promise<void>
}

/** Starts the service. The answer to its first payment never leaves, so that the client can be killed meanwhile. */
export async function startPaymentServer(): Promise<PaymentServer> {
  const payments: Payment[] = []
  const { promise: booked, resolve: announce } = Promise.withResolvers<void>()
  const server = createServer((request, response) => {
    const answer = (body: unknown): void => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(body))
    }
    if (request.method !== 'POST') {
      const order = new URL(request.url ?? '/', 'http://localhost').searchParams.get('order')
      answer(payments.filter((payment) => payment.order === order))
      return
    }
    void book(request, payments).then((payment) =>
      payments.length === 1 ? announce() : answer(payment),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/payments`,
    payments: () => payments,
    booked,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

async function book(request: IncomingMessage, payments: Payment[]): Promise<Payment> {
  const order = (await json(request)) as Omit<Payment, 'id'>
  const payment = { id: `payment-${payments.length + 1}`, ...order }
  payments.push(payment)
  return payment
}
