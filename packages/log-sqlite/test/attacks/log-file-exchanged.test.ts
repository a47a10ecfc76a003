import {
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSqliteLog } from '@smithers/log-sqlite'
import type { StartOptions } from '@smithers/tool-core/log'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { call, succeeded } from '../fixtures/call.ts'

const relaxed: StartOptions = { durability: 'relaxed', claim: null }

let folder: string
let path: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sqlite-log-'))
  path = join(folder, 'log.db')
})

afterEach(() => {
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true })
})

function unavailable(reason: string): object {
  return expect.objectContaining({
    code: 'TOOL_LOG_UNAVAILABLE',
    details: expect.objectContaining({ reason }),
  })
}

describe('a link in the place of a log', () => {
  it.each(['', '-wal', '-shm', '-journal'])(
    'is not followed at log.db%s: no table is made elsewhere',
    (suffix) => {
      const elsewhere = join(folder, 'elsewhere')
      new Database(elsewhere).exec('CREATE TABLE mine (a)').close()
      if (suffix !== '') new Database(path).exec('CREATE TABLE mine (a)').close()
      symlinkSync(elsewhere, `${path}${suffix}`)
      const before = readFileSync(elsewhere)
      expect(() => createSqliteLog({ path })).toThrow(unavailable('not-a-database'))
      expect(readFileSync(elsewhere)).toEqual(before)
    },
  )

  it('leads SQLite to another database when it is followed, as a control', () => {
    const elsewhere = join(folder, 'elsewhere')
    writeFileSync(elsewhere, '')
    symlinkSync(elsewhere, path)
    const database = new Database(path)
    createSqliteLog({ database })
    database.close()
    expect(readFileSync(elsewhere).length).toBeGreaterThan(0)
  })
})

describe('a log whose file goes away while it is open', () => {
  it.each([
    ['deleted', () => rmSync(path)],
    ['moved away', () => renameSync(path, `${path}.old`)],
    [
      'replaced by another database',
      () => {
        renameSync(path, `${path}.old`)
        new Database(path).exec('CREATE TABLE mine (a)').close()
      },
    ],
  ])('refuses the next call when it is %s', async (_how, remove) => {
    const log = createSqliteLog({ path })
    const { callToken } = call()
    const row = call({ callToken })
    expect(log.start(row, relaxed)).toEqual({ ok: true })
    remove()
    expect(() => log.start(call({ seq: 2 }), relaxed)).toThrow(unavailable('file-replaced'))
    expect(() => log.finish(callToken, succeeded)).toThrow(unavailable('file-replaced'))
    await log.close()
  })

  it('refuses the end of a call during which it was deleted', async () => {
    const log = createSqliteLog({ path })
    const row = call()
    log.start(row, relaxed)
    rmSync(path)
    const startedAt = performance.now()
    vi.spyOn(performance, 'now').mockReturnValue(startedAt + 10)
    expect(() => log.finish(row.callToken, succeeded)).toThrow(unavailable('file-replaced'))
    await log.close()
  })

  it('takes calls that end in no file without that check, as a control', async () => {
    const database = new Database(path)
    const log = createSqliteLog({ database })
    rmSync(path)
    expect(log.start(call(), relaxed)).toEqual({ ok: true })
    await log.close()
    database.close()
    expect(existsSync(path)).toBe(false)
  })
})

describe('createSqliteLog', () => {
  it('says that a damaged file is damaged', async () => {
    await createSqliteLog({ path }).close()
    const bytes = readFileSync(path)
    bytes.fill(0xff, 100, 4096)
    writeFileSync(path, bytes)
    expect(() => createSqliteLog({ path })).toThrow(unavailable('damaged'))
  })

  it('says which Node it needs, instead of ending the process in native code', () => {
    vi.spyOn(process, 'versions', 'get').mockReturnValue({ ...process.versions, node: '20.19.0' })
    expect(() => createSqliteLog({ path })).toThrow(unavailable('node-version'))
    expect(() => createSqliteLog({ path })).toThrow(/needs Node 22 or newer, and this is Node 20/)
    expect(existsSync(path)).toBe(false)
  })
})
