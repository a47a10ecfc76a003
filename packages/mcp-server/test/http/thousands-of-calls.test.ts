import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createSqliteLog } from '@smithers/log-sqlite'
import { execa } from 'execa'
import { describe, expect, it, onTestFinished } from 'vitest'
import { modernRequest } from '../fixtures/modern-request.ts'
import { beginSession } from '../fixtures/raw-session.ts'
import { createWorkspace } from '../fixtures/workspace.ts'

const lanes = 8
/** How many pairs of a write and a read a lane makes. */
const turns = 63
const calls = 2 * lanes * turns

/** Calls a tool and returns the answer as text, with whatever stands around it. */
type Call = (name: string, args: object) => Promise<string>

interface Caller {
  readonly call: Call
  leave(): Promise<unknown>
}

/** A client of each era. */
const eras: readonly (readonly [string, (url: string, token: string) => Promise<Caller>])[] = [
  [
    '2025-11-25, a session each',
    async (url, token) => {
      const session = await beginSession(url, token)
      let id = 0
      return {
        call: async (name, args) => (await session.call((id += 1), name, args)).text(),
        leave: () => session.ask('DELETE'),
      }
    },
  ],
  [
    '2026-07-28, each call by itself',
    async (url, token) => ({
      call: async (name, args) => {
        const params = { name, arguments: args }
        return JSON.stringify(await modernRequest(url, token, 'tools/call', params))
      },
      leave: async () => {},
    }),
  ],
]

/** What a server holds, as it counts it. */
interface Held {
  readonly objects: number
  readonly signals: number
  readonly sessions: number
  readonly servers: number
  readonly descriptors: number
  readonly listeners: number
}

/** A server in a process of its own, so that what the clients hold is not counted. */
async function countedServer(root: string, logPath: string) {
  const program = join(import.meta.dirname, '../fixtures/programs/counted-server.ts')
  const flags = ['--conditions=@smithers/source', '--disable-warning=ExperimentalWarning']
  const running = execa(process.execPath, [...flags, program, root, logPath], { reject: false })
  onTestFinished(() => void running.kill('SIGKILL'))
  const lines = createInterface({ input: running.stdout })[Symbol.asyncIterator]()
  const next = async (): Promise<unknown> => JSON.parse((await lines.next()).value as string)
  const address = (await next()) as { readonly url: string; readonly token: string }
  return {
    address,
    running,
    held: async (): Promise<Held> => {
      running.stdin.write('\n')
      return (await next()) as Held
    },
  }
}

describe.each(eras)('1 008 calls of %s over eight connections', (_era, begin) => {
  it('are each answered with their own answer, have a row each, and leave nothing', async () => {
    const { root, logPath } = createWorkspace()
    const { address, running, held } = await countedServer(root, logPath)
    const { url, token } = address
    const callers = await Promise.all(Array.from({ length: lanes }, () => begin(url, token)))
    const wrong: string[] = []
    const run = (from: number, to: number) =>
      Promise.all(
        callers.map(async ({ call }, lane) => {
          const path = `${lane}.txt`
          for (let turn = from; turn < to; turn += 1) {
            const content = `lane ${lane} turn ${turn}.`
            const written = await call('write', { path, content })
            const read = await call('read', { path })
            if (!/"text":"ok"/.test(written) || !read.includes(`"${content}"`)) wrong.push(read)
          }
        }),
      )
    await run(0, 1)
    const before = await held()
    await run(1, turns)
    expect(wrong).toEqual([])

    const log = createSqliteLog({ path: logPath })
    const rows = await log.list({ limit: 10_000 })
    await log.close()
    expect(rows.filter(({ status }) => status === 'success')).toHaveLength(calls)
    expect(rows.filter(({ toolName }) => toolName === 'write')).toHaveLength(calls / 2)
    expect(new Set(rows.map(({ callToken }) => callToken)).size).toBe(calls)

    // What a call has held goes some turns later. One thing that each keeps is more than this.
    const more = async (name: keyof Held): Promise<number> => (await held())[name] - before[name]
    await expect.poll(() => more('signals')).toBeLessThan(calls / 4)
    await expect.poll(() => more('objects')).toBeLessThan(calls / 2)
    expect(await more('descriptors')).toBeLessThan(4 * lanes)
    for (const name of ['sessions', 'servers', 'listeners'] as const)
      expect(await more(name)).toBe(0)
    await Promise.all(callers.map(({ leave }) => leave()))
    expect((await held()).sessions).toBe(0)
    running.stdin.end()
    expect(await running).toMatchObject({ exitCode: 0, stderr: '' })
  })
})
