import { createHash } from 'node:crypto'
import { sqlState } from './postgres-failure.ts'
import type { PostgresPool, PostgresResult, PostgresValue } from './postgres-pool.ts'

/** Sends a statement that is sent often. */
export type SendNamed = (text: string, values: PostgresValue[]) => Promise<PostgresResult>

/**
 * Gives statements names, under which the server keeps their plans: to plan a start takes longer than to run it. A name
 * is a hash of the text, so no other program's statement has it.
 *
 * A pooler may hand the next transaction a connection that does not know the name. The server then refuses the statement
 * before it runs; it is sent again without a name, and so are all later ones.
 */
export function namedStatementsOn(pool: PostgresPool, prepare: boolean): SendNamed {
  const names = new Map<string, string>()
  let usesNames = prepare

  function nameOf(text: string): string {
    let name = names.get(text)
    if (name === undefined) {
      name = `smithers_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`
      names.set(text, name)
    }
    return name
  }

  return async (text, values) => {
    if (!usesNames) return await pool.query({ text, values })
    try {
      return await pool.query({ name: nameOf(text), text, values })
    } catch (error) {
      if (!refusedNames.has(sqlState(error) ?? '')) throw error
      usesNames = false
      return await pool.query({ text, values })
    }
  }
}

/**
 * The connection does not know the name; another client of the pooler has made it known there; the table has other
 * columns since. None of them has run the statement.
 */
const refusedNames: ReadonlySet<string> = new Set(['26000', '42P05', '0A000'])
