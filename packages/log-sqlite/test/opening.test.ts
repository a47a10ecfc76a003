import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSqliteLog } from '@smithers/log-sqlite'
import type { SqliteLogOptions } from '@smithers/log-sqlite'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sqlite-log-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('createSqliteLog', () => {
  it('creates the file, and the files beside it, for this user alone', async () => {
    const log = createSqliteLog({ path: join(folder, 'log.db') })
    const modes = readdirSync(folder).map((name) => statSync(join(folder, name)).mode & 0o777)
    expect(modes).toEqual([0o600, 0o600, 0o600])
    await log.close()
    expect(readdirSync(folder)).toEqual(['log.db'])
  })

  it('keeps the mode of a file that exists', async () => {
    const path = join(folder, 'log.db')
    writeFileSync(path, '', { mode: 0o640 })
    await createSqliteLog({ path }).close()
    expect(statSync(path).mode & 0o777).toBe(0o640)
  })

  it.each([
    ['text', 'not a database'],
    ['longer text', 'not a database, '.repeat(1000)],
    ['a header of another version', 'SQLite format 2\0'.padEnd(4096, '\0')],
    ['a header followed by nonsense', 'SQLite format 3\0'.padEnd(4096, 'x')],
  ])('refuses a file that holds %s and leaves it as it was', (_, content) => {
    const path = join(folder, 'notes.txt')
    writeFileSync(path, content, { mode: 0o644 })
    const before = statSync(path)
    expect(failureOf({ path })).toMatchObject({
      code: 'TOOL_LOG_UNAVAILABLE',
      details: { reason: 'not-a-database' },
      message: expect.stringContaining('notes.txt'),
    })
    expect(readFileSync(path, 'utf8')).toBe(content)
    expect(readdirSync(folder)).toEqual(['notes.txt'])
    const after = statSync(path)
    expect([after.mode, after.mtimeMs, after.ino]).toEqual([
      before.mode,
      before.mtimeMs,
      before.ino,
    ])
  })

  it('refuses a folder and a FIFO without waiting for a writer', () => {
    const fifo = join(folder, 'fifo')
    execFileSync('sh', ['-c', 'mkfifo "$1"', 'sh', fifo])
    for (const path of [folder, fifo]) {
      expect(failureOf({ path })).toMatchObject({
        code: 'TOOL_LOG_UNAVAILABLE',
        details: { reason: 'not-a-database' },
      })
    }
  })

  it('refuses a file in a folder that does not exist and does not create the folder', () => {
    expect(failureOf({ path: join(folder, 'missing', 'log.db') })).toMatchObject({
      code: 'TOOL_LOG_UNAVAILABLE',
      details: { reason: 'cannot-open' },
    })
    expect(readdirSync(folder)).toEqual([])
  })

  it('refuses a table of that name with other columns and changes nothing in the file', () => {
    const path = join(folder, 'other.db')
    const database = new Database(path)
    database.exec(`CREATE TABLE _smithers_tool_calls (id INTEGER PRIMARY KEY, tool_name TEXT)`)
    const error = failureOf({ path })
    expect(error).toMatchObject({
      code: 'TOOL_LOG_UNAVAILABLE',
      message: expect.stringContaining('run_id'),
    })
    const tables = database.prepare('SELECT sql FROM sqlite_schema').all()
    expect(tables).toHaveLength(1)
    database.close()
  })

  it('leaves the tables and the user_version of another program in the same file alone', async () => {
    const path = join(folder, 'shared.db')
    const database = new Database(path)
    database.exec(
      `PRAGMA user_version = 42; CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('kept')`,
    )
    await createSqliteLog({ path }).close()
    expect(database.pragma('user_version', { simple: true })).toBe(42)
    expect(database.prepare('SELECT text FROM notes').all()).toEqual([{ text: 'kept' }])
    database.close()
  })

  it('declares a log without a file neither durable nor open to other processes', async () => {
    const inMemory = createSqliteLog({ path: ':memory:' })
    expect(inMemory.capabilities).toMatchObject({ durable: false, multiProcess: false })
    await inMemory.close()
    expect(readdirSync(folder)).toEqual([])
  })

  it('leaves a connection open that it was given', async () => {
    const database = new Database(join(folder, 'log.db'))
    await createSqliteLog({ database }).close()
    expect(database.prepare('SELECT 1 AS one').get()).toEqual({ one: 1 })
    database.close()
  })

  it('refuses options that make no sense', () => {
    mkdirSync(join(folder, 'x'))
    const wrong = [
      {},
      { path: '' },
      { path: join(folder, 'a.db'), durability: 'sometimes' },
      { path: join(folder, 'a.db'), maxWaitMs: -1 },
      { path: join(folder, 'a.db'), maxWaitMs: Number.NaN },
    ] as unknown as SqliteLogOptions[]
    for (const options of wrong) expect(failureOf(options)).toMatchObject({ code: 'INVALID_INPUT' })
    expect(readdirSync(folder)).toEqual(['x'])
  })
})

function failureOf(options: SqliteLogOptions): unknown {
  try {
    createSqliteLog(options)
  } catch (error) {
    return error
  }
  throw new Error('the log was opened')
}
