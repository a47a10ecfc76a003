import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { createBuiltinTools } from '@smithers/builtin-tools'
import { isSmithersError, runWithToolContext } from '@smithers/tool-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createFileTask } from '../fixtures/file-task.ts'

const server = createServer((socket) => {
  connections += 1
  socket.on('error', () => {}).end('HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n')
})
let connections = 0
let url = ''

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
})
afterAll(() => {
  server.close()
})

/** How often a command of the model reached the server, or the error that refused the options. */
async function connectionsWith(options: object): Promise<unknown> {
  const { context } = createFileTask({}, { isolation: 'none' })
  const before = connections
  try {
    const { bash } = createBuiltinTools({ warn() {}, ...options })
    await runWithToolContext(context, () =>
      bash.execute({ cmd: 'curl', args: ['-s', url] }, { toolCallId: 'call-1', messages: [] }),
    ).catch((error: unknown) => {
      if (!isSmithersError(error) || error.code !== 'TOOL_NETWORK_DISABLED') throw error
    })
  } catch (error) {
    return error
  }
  return connections - before
}

test('a command reaches the server when the network was opened, and only then', async () => {
  expect(await connectionsWith({ allowNetwork: true })).toBe(1)
  expect(await connectionsWith({ allowNetwork: false })).toBe(0)
  expect(await connectionsWith({})).toBe(0)
})

describe('createBuiltinTools', () => {
  test.each<[object, string]>([
    [{ allowNetwork: 'no' }, 'allowNetwork is "no". Pass true or false.'],
    [{ allowNetwork: 1 }, 'allowNetwork is 1. Pass true or false.'],
    [{ allowNetwork: {} }, 'allowNetwork is an object. Pass true or false.'],
    [{ allowNetwork: null }, 'allowNetwork is null. Pass true or false.'],
    [
      { network: 'host' },
      'network is "host". Pass { allow: [...] }; allowNetwork opens all of it.',
    ],
    [
      { commands: 'none' },
      "commands is \"none\". Pass 'auto', 'basic', 'strict', 'off' or a function",
    ],
  ])('refuses %j, and nothing reaches the server', async (options, message) => {
    const before = connections
    expect(await connectionsWith(options)).toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining(message),
    })
    expect(connections).toBe(before)
  })
})
