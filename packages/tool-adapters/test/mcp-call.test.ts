import { mcpTools } from '@smithers/tool-adapters'
import { describe, expect, it } from 'vitest'
import { listing } from './fixtures/listed-tools.ts'

const options = { toolCallId: 'call_1', messages: [] }

describe('mcpTools', () => {
  it('gives the server what the agent gave, without defaults of its own', async () => {
    const { tool } = await mcpTools(
      listing({
        inputSchema: {
          type: 'object',
          properties: { unit: { type: 'string', enum: ['m', 'ft'], default: 'm' } },
        },
      }),
    )
    expect(await tool?.execute({}, options)).toEqual({ name: 'tool', arguments: {} })
    await expect(tool?.execute({ unit: 'mile' }, options)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    })
  })

  it('allows what a schema allows, also where it is checked by halves', async () => {
    const { tool } = await mcpTools(
      listing({
        inputSchema: {
          type: 'object',
          properties: {
            id: {
              oneOf: [
                { type: 'string', pattern: '^a' },
                { type: 'string', pattern: '^b' },
              ],
            },
            link: { type: 'string', format: 'uri-reference' },
            pattern: { type: 'string' },
          },
          patternProperties: { '^x-': { type: 'string' } },
          additionalProperties: false,
        },
      }),
    )
    const given = { id: 'b1', link: '../there', pattern: 'p', 'x-note': 'n' }
    expect(await tool?.execute(given, options)).toMatchObject({ arguments: given })
    await expect(tool?.execute({ id: 1 }, options)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })
})
