import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createMemoryLog } from '@smithers/log-memory'
import { createToolRun, pendingApprovals, resolveToolApproval } from '@smithers/tool-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { blocks } from './fixtures/blocks.ts'
import { searchClient } from './fixtures/search-client.ts'

interface Block {
  execute(args: object, options: object): Promise<unknown>
}

function block(name: string): Block {
  return blocks.get(name) as unknown as Block
}

// The fixtures are the published blocks, with the import's name replaced; the type check compiles them.
describe('createTool', () => {
  let requests = 0
  const server = createServer((_request, response) => {
    requests += 1
    response.end(`page ${requests}`)
  })
  let url = ''
  beforeAll(async () => {
    await Promise.all([
      import('./fixtures/seeds/s4-approval.ts'),
      import('./fixtures/seeds/s4-cache-advanced.ts'),
      import('./fixtures/seeds/s4-cache.ts'),
      import('./fixtures/seeds/s4-create-tool.ts'),
      import('./fixtures/seeds/s4-retry.ts'),
    ])
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  })
  afterAll(() => void server.close())

  const options = { toolCallId: 'call_1', messages: [] }

  it('runs the block of the standard tool, and validates its input', async () => {
    expect(await block('search').execute({ query: 'x' }, options)).toEqual({
      hits: ['result for x'],
    })
    await expect(block('search').execute({ query: '' }, options)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    })
  })

  it('runs the block of the approval-gated tool, before and after the approval', async () => {
    const log = createMemoryLog()
    const args = { path: 'a.txt', content: 'abc' }
    const first = createToolRun({ runId: 'r', log }).tools({ writeFile: block('writeFile') })
    await expect(first.writeFile.execute(args, options)).rejects.toMatchObject({
      code: 'TOOL_APPROVAL_REQUIRED',
    })
    expect(await pendingApprovals({ log })).toMatchObject([
      { prompt: 'Confirm the write is safe.' },
    ])
    await resolveToolApproval({ log, id: 'call_1', approved: true })
    const second = createToolRun({ runId: 'r', attempt: 2, log }).tools({
      writeFile: block('writeFile'),
    })
    expect(await second.writeFile.execute(args, options)).toEqual({
      ok: true,
      path: 'a.txt',
      bytesWritten: 3,
    })
  })

  it.each([
    ['the cached tool', 'fetchPage'],
    ['the advanced cache', 'fetchPageAdvanced'],
  ])('runs the block of %s: equal calls of an invoke fetch once', async (_what, name) => {
    const before = requests
    const { page } = createToolRun({ log: createMemoryLog() }).tools({ page: block(name) })
    const pages = [await page.execute({ url }, options), await page.execute({ url }, options)]
    expect(requests - before).toBe(1)
    expect(new Set(pages).size).toBe(1)
  })

  it('runs the block of the retried tool: it retries, unless it is unauthorized', async () => {
    const query = vi.spyOn(searchClient, 'query')
    const { tool } = createToolRun({ log: createMemoryLog() }).tools({
      tool: block('externalSearch'),
    })
    query.mockRejectedValueOnce(new Error('down')).mockResolvedValueOnce('found')
    expect(await tool.execute({ q: 'x' }, options)).toBe('found')
    query.mockRejectedValueOnce(new Error('UNAUTHORIZED'))
    await expect(tool.execute({ q: 'y' }, options)).rejects.toThrow('UNAUTHORIZED')
    expect(query).toHaveBeenCalledTimes(3)
  })
})
