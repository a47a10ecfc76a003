import { isRunFree } from '@smithers/tool-core/log'
import type { ClaimRequest, ClaimResult, Fenced, RunRow, RunStore } from '@smithers/tool-core/log'
import { type ColumnsOf, rowFrom } from './columns.ts'
import type { LogConnection } from './log-connection.ts'
import { unavailable } from './postgres-failure.ts'
import type { PostgresValue } from './postgres-pool.ts'
import { attemptColumns, loopColumns, runColumns, taskColumns } from './run-rows.ts'
import { runStatements } from './run-statements.ts'
import { storedOrNull, storedText } from './stored-text.ts'

/** Keeps runs in the database of the log. The end of a run waits for the disk; a lost task is run again with a warning. */
// oxlint-disable-next-line max-lines-per-function -- a factory: it only returns methods
export function runsOn(connection: LogConnection): RunStore {
  const sql = runStatements(connection.tables, {
    relaxed: connection.commitMode(false),
    synced: connection.commitMode(true),
  })

  /** Writes if the token still holds the run. A statement that is sent again changes nothing more. */
  async function whileHeld(
    action: string,
    text: string,
    values: PostgresValue[],
    isDone: () => Promise<boolean> = async () => false,
  ): Promise<Fenced> {
    return await connection.write(action, async (mayBeStored) => {
      const { rows } = await connection.queryNamed(text, values)
      if (rows.length > 0) return 'ok'
      return mayBeStored && (await isDone()) ? 'ok' : 'lost'
    })
  }

  async function rowsOf<Row>(
    action: string,
    columns: ColumnsOf<Row>,
    text: string,
    values: PostgresValue[],
  ): Promise<Row[]> {
    return await connection.read(action, async () => {
      const { rows } = await connection.query(text, values)
      return rows.map((row) => rowFrom(columns, row))
    })
  }

  async function recorded(runId: string): Promise<RunRow | undefined> {
    const { rows } = await connection.queryNamed(sql.run, [storedText(runId)])
    return rows[0] && rowFrom(runColumns, rows[0])
  }

  return {
    now: () => connection.clock.now(),
    claim: (request) => claimRun(connection, sql, request),

    renew: (runId, leaseToken, leaseExpiresAtMs) =>
      whileHeld('renew the lease of a run', sql.renew, [
        storedText(runId),
        storedText(leaseToken),
        leaseExpiresAtMs,
      ]),

    nameWorkflow: (runId, leaseToken, workflow) =>
      whileHeld('name the workflow of a run', sql.nameWorkflow, [
        storedText(runId),
        storedText(leaseToken),
        storedText(workflow),
      ]),

    release: ({ runId, leaseToken, status, errorJson, nowMs }) =>
      whileHeld(
        'end a run',
        sql.release,
        [storedText(runId), storedText(leaseToken), status, storedOrNull(errorJson), nowMs],
        // A released run has no token any more.
        async () => {
          const run = await recorded(runId)
          return (
            run?.leaseToken === null &&
            run.status === status &&
            run.errorJson === errorJson &&
            run.finishedAtMs === nowMs
          )
        },
      ),

    startAttempt: (start) =>
      whileHeld('record the start of an attempt', sql.startAttempt, [
        storedText(start.runId),
        storedText(start.leaseToken),
        storedText(start.nodeId),
        start.iteration,
        storedText(start.taskId),
        storedOrNull(start.outputName),
        start.attempt,
        start.nowMs,
      ]),

    finishAttempt: (end) =>
      whileHeld('record the end of an attempt', sql.finishAttempt, [
        storedText(end.runId),
        storedText(end.leaseToken),
        storedText(end.nodeId),
        end.iteration,
        end.attempt,
        end.status,
        storedOrNull(end.outputJson),
        storedOrNull(end.errorJson),
        end.nowMs,
      ]),

    saveLoop: ({ runId, loopId, iteration, finished }, leaseToken) =>
      whileHeld('record the iteration of a loop', sql.saveLoop, [
        storedText(runId),
        storedText(leaseToken),
        storedText(loopId),
        iteration,
        finished,
      ]),

    list: ({ runId, limit = 100 }) =>
      runId === undefined
        ? rowsOf('list runs', runColumns, sql.newestRuns, [
            Math.min(limit, Number.MAX_SAFE_INTEGER),
          ])
        : rowsOf('list runs', runColumns, sql.run, [storedText(runId)]),
    tasks: (runId) => rowsOf('list tasks', taskColumns, sql.tasks, [storedText(runId)]),
    attempts: (runId) => rowsOf('list attempts', attemptColumns, sql.attempts, [storedText(runId)]),
    loops: (runId) => rowsOf('list loops', loopColumns, sql.loops, [storedText(runId)]),
  }
}

/** Whether a holder has ended is known to this host alone, so it is judged here and the judged lease is taken. */
async function claimRun(
  connection: LogConnection,
  sql: ReturnType<typeof runStatements>,
  request: ClaimRequest,
): Promise<ClaimResult> {
  const { leaseToken, leaseExpiresAtMs, nowMs } = request
  const [runId, token] = [storedText(request.runId), storedText(leaseToken)]
  const lease = [storedText(request.ownerId), token, leaseExpiresAtMs]
  const recorded = [storedOrNull(request.inputJson), storedText(request.optionsJson)]

  return await connection.write('claim a run', async (mayBeStored) => {
    for (let tries = 0; tries < mostRaces; tries += 1) {
      const { rows } = await connection.queryNamed(sql.createOrFind, [
        runId,
        ...lease,
        ...recorded,
        nowMs,
      ])
      const [stored] = rows
      // Another process has created it since the statement began.
      if (stored === undefined) continue
      const run = rowFrom(runColumns, stored)
      if (stored['created'] === true) return { ok: true, created: true, run }
      if (mayBeStored && run.leaseToken === leaseToken) {
        await connection.query(sql.interrupt, [runId, token, nowMs])
        return { ok: true, created: stored['created_by_token'] === token, run }
      }
      if (!isRunFree(run, nowMs)) return { ok: false, run }
      const taken = await connection.query(sql.takeOver, [
        runId,
        ...lease,
        ...recorded,
        storedOrNull(run.leaseToken),
        run.leaseExpiresAtMs,
      ])
      if (taken.rows[0] === undefined) continue
      // Only now can the process that was late start nothing more.
      await connection.query(sql.interrupt, [runId, token, nowMs])
      return { ok: true, created: false, run: rowFrom(runColumns, taken.rows[0]) }
    }
    throw unavailable('busy', 'Other processes claimed the same run too fast. Try again.')
  })
}

const mostRaces = 20
