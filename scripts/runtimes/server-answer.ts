import type { Readable } from 'node:stream'
import { execa } from 'execa'
import type { AppCommand, Workshop } from './workshop.ts'

const startMs = 60_000

/**
 * Starts a built server on a free port of the loopback, and returns what `path` answers.
 *
 * @throws Error with what the server printed when it does not start or the path fails
 */
export async function answerOf(
  workshop: Workshop,
  { app, command: [file, ...args], node }: AppCommand,
  path: string,
): Promise<string> {
  const { cwd, env } = await workshop.surroundings(app, node)
  const server = execa(file, args, {
    cwd,
    env: { ...env, HOSTNAME: '127.0.0.1', PORT: '0' },
    extendEnv: false,
    all: true,
    reject: false,
    stdin: 'ignore',
    // The server may be a child of the program that starts it.
    killDescendants: true,
  })
  try {
    const address = await Promise.race([
      addressIn(server.all),
      server.then(() => Promise.reject(new Error('the server ended'))),
    ])
    const response = await fetch(new URL(path, address), { signal: AbortSignal.timeout(startMs) })
    const text = await response.text()
    if (!response.ok) throw new Error(`${path} answered ${response.status}`)
    return text
  } catch (error) {
    server.kill()
    throw new Error(`${String(error)}\n${(await server).all ?? ''}`, { cause: error })
  } finally {
    server.kill()
    await server
  }
}

/** The address that a server prints when it is ready. */
async function addressIn(output: Readable): Promise<string> {
  let printed = ''
  return await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the server did not start')), startMs)
    output.on('data', (piece: Buffer) => {
      printed += String(piece)
      const address = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0]
      if (address === undefined || !printed.includes('Ready')) return
      clearTimeout(timer)
      resolve(address)
    })
  })
}
