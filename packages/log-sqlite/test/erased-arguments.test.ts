import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSqliteLog } from '@smithers/log-sqlite'
import {
  createToolRun,
  defineTool,
  pendingApprovals,
  resolveToolApproval,
  type ToolCallLog,
} from '@smithers/tool-core'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'

let folder: string
let file: string
const open: ToolCallLog[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'smithers-erased-'))
  file = join(folder, 'calls.db')
})

afterEach(async () => {
  for (const log of open.splice(0)) await log.close()
  rmSync(folder, { recursive: true })
})

function connect(): ToolCallLog {
  const log = createSqliteLog({ path: file })
  open.push(log)
  return log
}

/** Where the file of the log, or one beside it, holds a text. */
function copiesOf(text: string): string[] {
  return ['calls.db', 'calls.db-wal', 'calls.db-shm'].filter((name) => {
    const place = join(folder, name)
    return existsSync(place) && readFileSync(place).includes(text)
  })
}

const written: string[] = []
const write = defineTool({
  name: 'write',
  schema: z.object({ path: z.string(), content: z.string() }),
  sideEffect: true,
  idempotent: false,
  acceptsContext: true,
  needsApproval: true,
  logInput: ({ path, content }) => ({ path, bytes: content.length }),
  execute: ({ content }) => {
    written.push(content)
    if (content.includes('fails')) throw new Error('disk quota')
    return 'ok'
  },
})

/** Asks for many calls, as one process, and lets another one approve them with content of its own. */
async function approveWith(contents: readonly string[]): Promise<void> {
  const run = createToolRun({ runId: 'r', attempt: 1, log: connect() })
  const { execute } = run.tools({ write }).write
  const calls = contents.map((_, index) =>
    execute({ path: `${index}.txt`, content: 'agent' }, { toolCallId: `c${index}`, messages: [] }),
  )
  await Promise.allSettled(calls)
  const log = connect()
  for (const [index, content] of contents.entries()) {
    const approvedArgs = { path: `${index}.txt`, content }
    await resolveToolApproval({ log, id: `c${index}`, approved: true, approvedArgs })
  }
  expect(await pendingApprovals({ log })).toEqual([])
}

async function resume(count: number): Promise<void> {
  const run = createToolRun({ runId: 'r', attempt: 2, log: connect() })
  const { execute } = run.tools({ write }).write
  for (let index = 0; index < count; index += 1) {
    const args = { path: `${index}.txt`, content: 'agent' }
    await execute(args, { toolCallId: `d${index}`, messages: [] }).catch(() => {})
  }
}

// Small ones share a page and move when it is balanced; large ones have pages of their own.
const secrets = Array.from({ length: 40 }, (_, index) => {
  const fails = index % 7 === 0 ? ' fails' : ''
  return `SECRET-CONTENT-${index}${fails} ${'x'.repeat(index % 3 === 0 ? 30_000 : index * 11)}`
})

describe('the content that an approver gives to a tool whose content is never stored', () => {
  it('is in no file of the log once the calls have run, while other connections stay open', async () => {
    await approveWith(secrets)
    expect(copiesOf('SECRET-CONTENT-')).not.toEqual([])
    await resume(secrets.length)
    expect(written.splice(0)).toEqual(secrets)
    expect(copiesOf('SECRET-CONTENT-')).toEqual([])
  })

  it('leaves the write-ahead log when another process stops reading, and holds up no call until then', async () => {
    await approveWith(['SECRET-CONTENT'])
    const reader = new Database(file)
    reader.exec('BEGIN; SELECT * FROM _smithers_tool_approvals')
    const log = connect()
    const [row] = (await log.approvals?.list({})) ?? []
    const erased = log.approvals?.update(row?.id ?? '', 'approved', { approvedArgsJson: null })
    expect(erased).toBe(true)
    expect(copiesOf('SECRET-CONTENT')).not.toEqual([])
    reader.exec('COMMIT')
    await vi.waitFor(() => expect(copiesOf('SECRET-CONTENT')).toEqual([]), 60_000)
    reader.close()
  })

  it('is in no file of the log once its run was pruned by name, although no call has used it', async () => {
    await approveWith(secrets)
    await connect().prune({ runs: ['r'] })
    expect(copiesOf('SECRET-CONTENT-')).toEqual([])
  })

  it('stays in pages that SQLite only marks as free, as a control', async () => {
    await approveWith(secrets)
    const database = new Database(file)
    database.exec('UPDATE _smithers_tool_approvals SET approved_args_json = NULL')
    database.pragma('wal_checkpoint(TRUNCATE)')
    database.close()
    expect(copiesOf('SECRET-CONTENT-')).toEqual(['calls.db'])
  })
})
