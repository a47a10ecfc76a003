import { keyMark, keyPrefixOf, taskPrefixOf } from './job.ts'
import type { QueueTables } from './queue-tables.ts'

/** Adds a job for each entry of a query. */
export function addJobs({ addJob, schema }: QueueTables, entries: string): string {
  return `SELECT ${entries}.run_id, (${addJob}(${literal(taskPrefixOf(schema))} || ${entries}.queue || ':' || ${entries}.definition,
    json_build_object('runId', ${entries}.run_id, 'jobKey', ${entries}.job_key), run_at => ${entries}.run_at,
    job_key => ${entries}.job_key, priority => ${entries}.priority)).id FROM ${entries}`
}

export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** By the server's clock, which all workers share. */
export const nowMs: string = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint'

/** The key of the first job of a run. */
export function firstKey({ schema }: QueueTables, entry: string): string {
  return `${literal(keyPrefixOf(schema))} || ${entry}.run_id`
}

/** Assignments that make the next job of an entry the one that counts. */
export function nextJob(tables: QueueTables, entry: string): string {
  return `job = ${entry}.job + 1, job_key = ${firstKey(tables, entry)} || ${literal(keyMark)} || (${entry}.job + 1)`
}
