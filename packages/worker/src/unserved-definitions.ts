import type { QueueStatements } from './queue-statements.ts'
import type { ResolvedWorker } from './worker-options.ts'

/** Definitions with queued runs that no live worker of the queue has. */
export interface UnservedDefinitions {
  /** Says each one that is new since the last look. */
  look(): Promise<void>
}

/** Each is said once for as long as no worker has it: its runs wait in the queue, and nothing tries them. */
export function unservedDefinitions(
  { pool, queue, onProblem }: Pick<ResolvedWorker, 'pool' | 'queue' | 'onProblem'>,
  sql: Pick<QueueStatements, 'unserved'>,
): UnservedDefinitions {
  let said: ReadonlySet<string> = new Set()
  return {
    async look() {
      const { rows } = await pool.query<{ definition: string }>(sql.unserved, [queue])
      const found = new Set(rows.map(({ definition }) => definition))
      for (const definition of found) {
        if (said.has(definition)) continue
        onProblem(
          `No live worker of the queue "${queue}" has the workflow "${definition}", so its runs wait. Start a worker that has it.`,
        )
      }
      said = found
    },
  }
}
