import { type DefinedTool, defineTool } from '@smithers/tool-core'
import { z } from 'zod'

/** The shop: a service that takes idempotency keys and answers a key that it knows with what it did before. */
export const orders: Map<string, string> = new Map()

export const placeOrder: DefinedTool<{ sku: string }, string, 'place_order'> = defineTool({
  name: 'place_order',
  description: 'Orders an article from the shop.',
  schema: z.object({ sku: z.string() }),
  sideEffect: true,
  idempotent: false,
  needsApproval: true,
  approvalPrompt: 'Order {{sku}}?',
  execute({ sku }, ctx) {
    orders.set(ctx.idempotencyKey, sku)
    return `ordered ${sku}`
  },
})
