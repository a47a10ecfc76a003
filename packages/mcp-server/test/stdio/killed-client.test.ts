import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createSqliteLog } from '@smithers/log-sqlite'
import type { ToolCallRow } from '@smithers/tool-core'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { livingProcess, processesNaming } from '../fixtures/living-process.ts'
import { type Connect, lines, textOf } from '../fixtures/mcp-clients.ts'
import { serverProgram } from '../fixtures/server-program.ts'
import { createWorkspace } from '../fixtures/workspace.ts'

const program = join(import.meta.dirname, '../fixtures/programs/calling-client.ts')
const flags = ['--conditions=@smithers/source', '--disable-warning=ExperimentalWarning']

/** A client in a process of its own, whose command runs and has started another process. */
async function runningClient(line: string) {
  const workspace = createWorkspace({ 'a.txt': 'alpha\n' })
  const { root, logPath } = workspace
  const seconds = 1_000_000 + Math.floor(Math.random() * 1_000_000)
  const own = [`sleep ${seconds}`, `sleep ${seconds}.5`]
  const command = `${own[0]} & touch begun; ${own[1]}; echo ended`
  const args = [...flags, program, line, root, logPath, command]
  const client = execa(process.execPath, args, { reject: false })
  const living = (): readonly string[] => own.filter((each) => livingProcess(each))
  // Only the server has the option.
  const servers = (): readonly number[] => processesNaming(`--log ${logPath}`)
  await expect.poll(() => existsSync(join(root, 'begun'))).toBe(true)
  await expect.poll(living).toEqual(own)
  // A child of the server has its command line until it runs its own program.
  await expect.poll(servers).toHaveLength(1)
  const rows = async (): Promise<readonly ToolCallRow[]> => {
    const log = createSqliteLog({ path: logPath })
    try {
      return await log.list({})
    } finally {
      await log.close()
    }
  }
  return { ...workspace, client, living, servers, rows }
}

/** What the next client of the log finds: a read, and a command of its own. */
async function goOn(connect: Connect, root: string, logPath: string): Promise<readonly string[]> {
  const client = await connect(serverProgram('--root', root, '--log', logPath))
  const read = await client.call('read', { path: 'a.txt' })
  const ran = await client.call('bash', { command: 'echo again' })
  await client.close()
  return [textOf(read), textOf(ran)]
}

const errorOf = (row: ToolCallRow | undefined): unknown => JSON.parse(row?.errorJson ?? 'null')

const after = [
  { toolName: 'read', status: 'success' },
  { toolName: 'bash', status: 'success', effect: 'applied' },
]

describe.each(lines)('a client that is killed in the middle of a command: %s', (line, connect) => {
  it('takes its server and the command with it; the row says so, and the next client goes on', async () => {
    const { client, living, servers, rows, root, logPath } = await runningClient(line)
    client.kill('SIGKILL')
    await client
    await expect.poll(servers).toEqual([])
    // What was killed keeps its command line until a processor has let it end.
    await expect.poll(living).toEqual([])
    const cut = { toolName: 'bash', status: 'error', effect: 'unknown' }
    const left = await rows()
    expect(left).toMatchObject([cut])
    expect(errorOf(left[0])).toMatchObject({ code: 'TOOL_ABORTED' })

    expect(await goOn(connect, root, logPath)).toEqual(['alpha\n', 'again\n'])
    expect(await rows()).toMatchObject([cut, ...after])
  })

  it('and whose server is killed with it leaves no process, and the next server closes its row', async () => {
    const { client, living, servers, rows, root, logPath } = await runningClient(line)
    for (const pid of servers()) process.kill(pid, 'SIGKILL')
    client.kill('SIGKILL')
    await client
    await expect.poll(servers).toEqual([])
    await expect.poll(living).toEqual([])
    expect(await rows()).toMatchObject([{ toolName: 'bash', status: 'started' }])

    expect(await goOn(connect, root, logPath)).toEqual(['alpha\n', 'again\n'])
    const closed = await rows()
    expect(closed).toMatchObject([{ status: 'error', effect: 'unknown' }, ...after])
    expect(errorOf(closed[0])).toMatchObject({ code: 'TOOL_OUTCOME_UNKNOWN' })
  })
})
