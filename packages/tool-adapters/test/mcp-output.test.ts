import { mcpTools } from '@smithers/tool-adapters'
import { describe, expect, it } from 'vitest'
import { answering, server } from './fixtures/listed-tools.ts'

const options = { toolCallId: 'call_1', messages: [] }

describe('mcpTools', () => {
  it('shows the model images as images, and bytes of other kinds by name', async () => {
    const content = [
      { type: 'text', text: 'A picture:' },
      { type: 'image', data: 'aW1n', mimeType: 'image/png' },
      { type: 'audio', data: 'c291bmQ=', mimeType: 'audio/wav' },
      { type: 'resource', resource: { uri: 'file:///a.txt', text: 'words' } },
      {
        type: 'resource',
        resource: { uri: 'file:///b.zip', mimeType: 'application/zip', blob: 'eg==' },
      },
      { type: 'resource', resource: { uri: 'file:///c.png', mimeType: 'image/png', blob: 'aW1n' } },
      { type: 'resource_link', uri: 'file:///d', name: 'd' },
    ]
    const remote = await mcpTools(answering(async () => ({ content }), { name: 'look' }))
    const shown = [
      { type: 'text', text: 'A picture:' },
      { type: 'image-data', data: 'aW1n', mediaType: 'image/png' },
      { type: 'text', text: '[audio: audio/wav, 5 bytes]' },
      { type: 'text', text: 'file:///a.txt\nwords' },
      { type: 'text', text: '[file:///b.zip: application/zip, 1 bytes]' },
      { type: 'image-data', data: 'aW1n', mediaType: 'image/png' },
      { type: 'text', text: '{"type":"resource_link","uri":"file:///d","name":"d"}' },
    ]
    const { toModelOutput } = remote['look'] as unknown as {
      toModelOutput(given: unknown): unknown
    }
    const call = { toolCallId: 'c', input: {} }
    expect(toModelOutput({ ...call, output: content })).toEqual({ type: 'content', value: shown })
    // AI SDK 5 hands over the output alone.
    expect(toModelOutput(content)).toMatchObject({
      value: [{}, { type: 'media', data: 'aW1n' }, {}, {}, {}, {}, {}],
    })
    const structuredContent = { width: 1 }
    expect(toModelOutput({ ...call, output: { content, structuredContent } })).toMatchObject({
      value: [{ text: '{"width":1}' }, { type: 'image-data' }, {}, {}, {}, {}, {}],
    })
    expect(toModelOutput({ ...call, output: 'words' })).toEqual({ type: 'text', value: 'words' })
    expect(toModelOutput({ ...call, output: [1] })).toEqual({ type: 'json', value: [1] })
  })

  it('fails a call whose structured content is not what the server said it would be', async () => {
    const outputSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }
    for (const structuredContent of [{ n: 1 }, { n: 'one' }, {}]) {
      const client = answering(async () => ({ content: [], structuredContent }), { outputSchema })
      const call = (await mcpTools(client))['tool']?.execute({}, options)
      if (structuredContent.n === 1) expect(await call).toEqual({ n: 1 })
      else {
        await expect(call).rejects.toMatchObject({
          code: 'TOOL_FAILED',
          message: expect.stringContaining('at n: Invalid input'),
        })
      }
    }
  })

  it('keeps the image beside structured content', async () => {
    const content = [{ type: 'image', data: 'aW1n', mimeType: 'image/png' }]
    const result = { content, structuredContent: { width: 1 } }
    const { tool } = await mcpTools(answering(async () => result, {}))
    expect(await tool?.execute({}, options)).toEqual(result)
  })

  it('turns isError into an error with the text of the server', async () => {
    const failed = { isError: true, content: [{ type: 'text', text: 'disk is full' }] }
    const { first } = await mcpTools(server(undefined, failed))
    await expect(first?.execute({}, options)).rejects.toMatchObject({
      code: 'TOOL_FAILED',
      message: 'disk is full',
    })
  })

  it('returns structured content, else text, else the parts', async () => {
    const outputs = [
      [{ content: [{ type: 'text', text: '{"a":1}' }], structuredContent: { a: 1 } }, { a: 1 }],
      [
        {
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' },
          ],
        },
        'a\nb',
      ],
      [
        { content: [{ type: 'image', data: 'x', mimeType: 'image/png' }] },
        [{ type: 'image', data: 'x', mimeType: 'image/png' }],
      ],
    ] as const
    for (const [result, output] of outputs) {
      const { first } = await mcpTools(server(undefined, result))
      expect(await first?.execute({}, options)).toEqual(output)
    }
  })
})
