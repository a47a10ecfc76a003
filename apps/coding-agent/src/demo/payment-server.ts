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

/** Starts the service. The answer to its first payment never leaves: whoever asked is to be killed meanwhile. */
export async function startPaymentServer(): Promise<PaymentServer> {
  const payments: Payment[] = []
  let announce = (): void => {}
  const booked = new Promise<void>((resolve) => {
    announce = resolve
  })
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
    void orderOf(request).then((order) => {
      const payment = { id: `payment-${payments.length + 1}`, ...order }
      payments.push(payment)
      if (payments.length === 1) announce()
      else answer(payment)
    })
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

async function orderOf(request: IncomingMessage): Promise<Omit<Payment, 'id'>> {
  return (await json(request)) as Omit<Payment, 'id'>
}
