import { promises as fs } from 'node:fs'
import { join } from 'node:path'
import { tools } from '@smithers/builtin-tools'
import { createSqliteLog } from '@smithers/log-sqlite'
import { createToolRun, defineTool, type ToolCallLog } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import Database from 'better-sqlite3'
import { z } from 'zod'
import { textOf } from './file-jobs.ts'
import type { Job } from './rounds.ts'
import { nextCall } from './run-tools.ts'

const nothing = defineTool({
  name: 'nothing',
  schema: z.object({ n: z.number() }),
  execute: async ({ n }) => ({ ok: true, n }),
})

/** Jobs whose calls of one round belong to one run, which `renew` begins: what a run costs once is no part of a call. */
interface JobsOfRuns {
  readonly jobs: readonly Job[]
  renew(): void
}

/** A tool that does nothing, with each log. */
export function nothingJobs(folder: string): JobsOfRuns {
  const sqlite = createSqliteLog({ path: join(folder, 'nothing.db') })
  const logs = [
    { name: 'memory', logOf: () => createMemoryLog(), atMost: 15, execute: nothing.execute },
    { name: 'SQLite', logOf: () => sqlite, atMost: 60, execute: nothing.execute },
  ]
  return {
    jobs: logs.map((log) => ({
      name: `a tool that does nothing, ${log.name} log`,
      calls: 50,
      ours: (call: number) => log.execute({ n: call }, nextCall()),
      beside: [{ name: 'nothing', atMost: log.atMost }],
    })),
    renew() {
      for (const log of logs)
        log.execute = inNewRun({ nothing }, log.logOf(), folder).nothing.execute
    },
  }
}

/** A read of 1 KB journaled to SQLite, beside a read with an insert before it and an update after it. */
export async function loggedReadJobs(root: string, folder: string): Promise<JobsOfRuns> {
  const path = 'logged.ts'
  await fs.writeFile(join(root, path), textOf(1024))
  const log = createSqliteLog({ path: join(folder, 'logged.db') })
  const plain = plainRows(join(folder, 'plain.db'))
  let { execute } = tools.read
  const job: Job = {
    name: 'read 1 KB, logged to SQLite',
    calls: 10,
    ours: () => execute({ path }, nextCall()),
    beside: [
      {
        name: 'insert, readFile, update',
        atMost: 0.8,
        work: async (call) => {
          plain.insert(call, JSON.stringify({ path }))
          const text = await fs.readFile(join(root, path), 'utf8')
          plain.update(call, JSON.stringify(text))
          return text
        },
      },
    ],
  }
  return {
    jobs: [job],
    renew() {
      execute = inNewRun({ read: tools.read }, log, root).read.execute
    },
  }
}

let runs = 0

function inNewRun<Tools extends Readonly<Record<string, unknown>>>(
  given: Tools,
  log: ToolCallLog,
  rootDir: string,
): Tools {
  runs += 1
  return createToolRun({ runId: `journal-${runs}`, rootDir, log }).tools(given)
}

interface PlainRows {
  insert(seq: number, inputJson: string): void
  update(seq: number, outputJson: string): void
}

/** The least that a program would write itself: the documented columns, one commit before and one after. */
function plainRows(path: string): PlainRows {
  const database = new Database(path)
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = NORMAL')
  database.exec(`
    CREATE TABLE calls (run_id TEXT, node_id TEXT, iteration INTEGER, attempt INTEGER, seq INTEGER, tool_name TEXT,
      input_json TEXT, output_json TEXT, started_at_ms INTEGER, finished_at_ms INTEGER, status TEXT, error_json TEXT,
      PRIMARY KEY (run_id, node_id, iteration, attempt, seq))`)
  const insert = database.prepare(
    `INSERT INTO calls (run_id, node_id, iteration, attempt, seq, tool_name, input_json, started_at_ms, status)
     VALUES ('run', 'task', 0, 1, ?, 'read', ?, ?, 'started')`,
  )
  const update = database.prepare(
    `UPDATE calls SET status = 'success', output_json = ?, finished_at_ms = ?
     WHERE run_id = 'run' AND node_id = 'task' AND iteration = 0 AND attempt = 1 AND seq = ?`,
  )
  return {
    insert: (seq, inputJson) => void insert.run(seq, inputJson, Date.now()),
    update: (seq, outputJson) => void update.run(outputJson, Date.now(), seq),
  }
}
