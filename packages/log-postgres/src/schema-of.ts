/**
 * The schema of the tables of a log: `schema`, or else what `?schema=NAME` in the connection string says, or else
 * `public`. `createPostgresLog`, `migrate` and `databaseStatus` ask it; it is for code that has a pool of its own beside
 * such a string.
 */
export function schemaOf(log: {
  readonly connectionString?: string | undefined
  readonly schema?: string | undefined
}): string {
  if (log.schema !== undefined) return log.schema
  // By hand: the driver also takes strings that are no URL, such as those without a host.
  const parameters = /\?([^#]*)/.exec(log.connectionString ?? '')?.[1]
  return new URLSearchParams(parameters).get('schema') ?? 'public'
}
