import { SmithersError } from '@smithers/tool-core/log'

/** The tables of one schema, quoted and qualified, as statements name them. */
export interface Tables {
  readonly schema: string
  readonly schemaVersions: string
  readonly toolCalls: string
  /** Calls of runs that have ended, in partitions. */
  readonly archive: string
  readonly archivedRuns: string
  /** A view of the calls, archived ones too. */
  readonly allCalls: string
  /** The newest attempt of each task that has begun. */
  readonly begunAttempts: string
  readonly toolApprovals: string
  readonly runState: string
  readonly runs: string
  readonly tasks: string
  readonly attempts: string
  readonly loops: string
}

/** Names are qualified, since `search_path` is a setting of the session, which a pooler does not keep. */
export function tablesOf(schema: string): Tables {
  if (schema === '' || schema.includes('\0') || Buffer.byteLength(schema) > longestNameBytes) {
    throw new SmithersError(
      'INVALID_INPUT',
      `schema must be a name of 1 to ${longestNameBytes} bytes, got ${JSON.stringify(schema)}.`,
    )
  }
  const quoted = quoteIdentifier(schema)
  const table = (name: string): string => `${quoted}._smithers_${name}`
  return Object.freeze({
    schema,
    schemaVersions: table('schema_versions'),
    toolCalls: table('tool_calls'),
    archive: table('tool_calls_archive'),
    archivedRuns: table('archived_runs'),
    allCalls: table('all_tool_calls'),
    begunAttempts: table('begun_attempts'),
    toolApprovals: table('tool_approvals'),
    runState: table('run_state'),
    runs: table('runs'),
    tasks: table('tasks'),
    attempts: table('attempts'),
    loops: table('loops'),
  })
}

export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

export function quoteLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** PostgreSQL cuts longer names without an error. */
const longestNameBytes = 63
