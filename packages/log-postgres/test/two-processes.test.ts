import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { describeWithServer, newSchema, openLog } from './fixtures/test-database.ts'

const program = fileURLToPath(new URL('./fixtures/programs/charge-and-die.ts', import.meta.url))

let folder: string
let effectsFile: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'postgres-log-'))
  effectsFile = join(folder, 'effects')
  writeFileSync(effectsFile, '')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describeWithServer('two processes of one database', () => {
  it('charge three orders three times, when the first is killed in the middle of the second charge', async () => {
    const schema = newSchema()
    expect(await charge(schema, { attempt: 1, dieAt: 2 })).toEqual({ signal: 'SIGKILL', said: '' })
    expect(effects()).toEqual(['order-1', 'order-2'])
    const log = await openLog(schema)
    expect((await log.list({})).map(({ status }) => status)).toEqual(['success', 'started'])

    const second = await charge(schema, { attempt: 2, dieAt: 0 })
    expect(second).toEqual({ signal: null, said: '["charged 1","charged 2","charged 3"]' })
    expect(effects()).toEqual(['order-1', 'order-2', 'order-3'])
    const rows = await log.list({ runId: 'run' })
    expect(rows.map(({ attempt, status, effect }) => [attempt, status, effect])).toContainEqual([
      1,
      'error',
      'unknown',
    ])
    expect(rows.every(({ finishedAtMs }) => finishedAtMs !== null)).toBe(true)
    await log.close()
  })

  it('charge each order once when both begin at the same moment', async () => {
    const schema = newSchema()
    const both = await Promise.all([
      charge(schema, { attempt: 1, dieAt: 0 }),
      charge(schema, { attempt: 1, dieAt: 0 }),
    ])
    for (const { said } of both) expect(said).toBe('["charged 1","charged 2","charged 3"]')
    expect(effects().toSorted()).toEqual(['order-1', 'order-2', 'order-3'])
  })
})

function effects(): string[] {
  return readFileSync(effectsFile, 'utf8').split('\n').filter(Boolean)
}

function charge(
  schema: string,
  { attempt, dieAt }: { readonly attempt: number; readonly dieAt: number },
): Promise<{ signal: string | null; said: string }> {
  const given = [schema, effectsFile, String(attempt), String(dieAt)]
  const node = ['--conditions=@smithers/source', program, ...given]
  return new Promise((resolve, reject) => {
    execFile(process.execPath, node, (error, stdout, stderr) => {
      if (error !== null && error.signal !== 'SIGKILL') reject(new Error(stderr, { cause: error }))
      else resolve({ signal: error?.signal ?? null, said: stdout.trim() })
    })
  })
}
