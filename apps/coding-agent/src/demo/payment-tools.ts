import { defineTool, type DefinedTool } from '@smithers/orchestrator'
import { z } from 'zod'

/** A payment, as the payment service reports it. */
export const payment: z.ZodObject<{ id: z.ZodString; order: z.ZodString; cents: z.ZodNumber }> =
  z.object({ id: z.string(), order: z.string(), cents: z.number() })

type Payment = z.infer<typeof payment>

/** Pays. The effect is outside this machine, and a second call pays twice. */
export function chargeAt(
  url: string,
): DefinedTool<Pick<Payment, 'order' | 'cents'>, Payment, 'charge'> {
  return defineTool({
    name: 'charge',
    description: 'Pays for an order.',
    schema: payment.pick({ order: true, cents: true }),
    sideEffect: true,
    idempotent: false,
    execute: async (order, ctx) => {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': ctx.idempotencyKey },
        body: JSON.stringify(order),
        signal: ctx.abortSignal,
      })
      return payment.parse(await response.json())
    },
  })
}

/** Lists the payments of an order. */
export function findPaymentsAt(
  url: string,
): DefinedTool<Pick<Payment, 'order'>, Payment[], 'find_payments'> {
  return defineTool({
    name: 'find_payments',
    description: 'Lists the payments of an order.',
    schema: payment.pick({ order: true }),
    execute: async ({ order }, ctx) => {
      const response = await fetch(`${url}?order=${order}`, { signal: ctx.abortSignal })
      return z.array(payment).parse(await response.json())
    },
  })
}
