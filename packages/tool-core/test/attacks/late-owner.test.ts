import { spawn } from 'node:child_process'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createSqliteLog } from '@smithers/log-sqlite'
import { createToolRun, defineTool } from '@smithers/tool-core'
import {
  currentOwnerId,
  heldHere,
  isOrphan,
  isRunFree,
  type ToolCallLog,
} from '@smithers/tool-core/log'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'

const program = new URL('../fixtures/programs/late-worker.ts', import.meta.url).pathname

function owner(pid: number, startTime = /\) .*/.exec(statOf(pid))?.[0].split(' ')[20]): string {
  return currentOwnerId().replace(/:\d+:\d+$/, `:${pid}:${startTime}`)
}

function statOf(pid: number): string {
  return readFileSync(`/proc/${pid}/stat`, 'latin1')
}

describe.runIf(process.platform === 'linux')('a call whose owner is late', () => {
  test('is waited for, and charged once, while its process lives with a busy event loop', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'smithers-late-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const [logFile, chargesFile] = [join(folder, 'calls.db'), join(folder, 'charges')]
    const goFile = join(folder, 'go')
    const child = spawn(
      process.execPath,
      [
        '--conditions=@smithers/source',
        '--disable-warning=ExperimentalWarning',
        program,
        logFile,
        chargesFile,
        goFile,
        '100',
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    onTestFinished(() => void child.kill('SIGKILL'))
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    expect((await lines.next()).value).toBe('charging')
    const charge = defineTool({
      name: 'charge',
      schema: z.object({}),
      sideEffect: true,
      acceptsContext: true,
      execute: () => {
        appendFileSync(chargesFile, 'again\n')
        return 'charged again'
      },
    })
    const sqlite = createSqliteLog({ path: logFile })
    let looks = 0
    const log: ToolCallLog = {
      ...sqlite,
      async list(query) {
        const rows = await sqlite.list(query)
        const [row] = rows
        const isLate = row?.status === 'started' && (row.leaseExpiresAtMs ?? 0) < Date.now()
        if (query.callToken !== undefined && isLate) looks += 1
        // It has been waited for beyond its lease.
        if (looks === 2) writeFileSync(goFile, '')
        return rows
      },
    }
    const run = createToolRun({ runId: 'r', attempt: 2, log })
    const answer = await run.tools({ charge }).charge.execute({}, { toolCallId: 'd', messages: [] })
    expect(answer).toBe('charged late')
    expect((await lines.next()).value).toBe('charged late')
    expect(readFileSync(chargesFile, 'utf8')).toBe('late\n')
  })

  const late = { finishedAtMs: null, leaseExpiresAtMs: 1000 }

  test('is no orphan when the clock was set forward, as long as its process lives', () => {
    const row = { ...late, ownerId: owner(process.ppid) }
    expect(isOrphan(row, 999)).toBe(false)
    expect(isOrphan(row, 1e15)).toBe(false)
    expect(isRunFree({ ...row, leaseToken: 't' }, 1e15)).toBe(false)
  })

  test('is an orphan when another process has its number, whatever its lease says', () => {
    const row = { ...late, ownerId: owner(process.ppid, '1') }
    expect(isOrphan(row, 999)).toBe(true)
    expect(isRunFree({ ...row, leaseToken: 't' }, 999)).toBe(true)
  })

  test('is an orphan after its lease when its owner is on another host', () => {
    const row = { ...late, ownerId: 'elsewhere:1:1' }
    expect(isOrphan(row, 999)).toBe(false)
    expect(isOrphan(row, 1000)).toBe(true)
  })

  test('of this process is an orphan after its lease when this process no longer runs it', () => {
    const row = { ...late, ownerId: currentOwnerId(), callToken: 'late-call' }
    heldHere.add(row.callToken)
    expect(isOrphan(row, 1000)).toBe(false)
    heldHere.delete(row.callToken)
    expect(isOrphan(row, 999)).toBe(false)
    expect(isOrphan(row, 1000)).toBe(true)
  })
})
