import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createSqliteLog } from '@smithers/log-sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

const program = join(import.meta.dirname, '../fixtures/programs/approved-order.ts')

let folder: string
let path: string
let ledger: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'approval-'))
  path = join(folder, 'log.db')
  ledger = join(folder, 'ledger')
})
afterEach(() => rmSync(folder, { recursive: true }))

interface Answer {
  readonly code?: string
  readonly status?: string
  readonly output?: string
  readonly attempt?: number
  readonly message?: string
  readonly details?: { readonly approvals?: readonly { readonly approvalId: string }[] }
}

async function run(...args: string[]): Promise<Answer> {
  const options = ['--conditions=@smithers/source', '--disable-warning=ExperimentalWarning']
  const { stdout } = await promisify(execFile)(process.execPath, [...options, program, ...args])
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Answer
}

function orders(): string[] {
  return existsSync(ledger) ? readFileSync(ledger, 'utf8').trim().split('\n') : []
}

async function ask(): Promise<string> {
  const paused = await run('ask', path, ledger)
  expect(paused.code).toBe('TOOL_APPROVAL_REQUIRED')
  return paused.details?.approvals?.[0]?.approvalId ?? ''
}

describe('a task that waits for approval', () => {
  test('is asked in one process, approved in a second, and runs exactly once in a third', async () => {
    const id = await ask()
    expect(orders()).toEqual([])
    expect(await run('approve', path, id)).toEqual({ status: 'approved' })
    const resumed = await run('resume', path, ledger)
    expect(resumed).toMatchObject({ attempt: 2, output: expect.stringContaining('placed 7') })
    expect(orders()).toHaveLength(1)
    const log = createSqliteLog({ path })
    const rows = await log.list({ runId: 'order', nodeId: 'shop', iteration: 0 })
    await log.close()
    expect(rows.map(({ status, effect }) => `${status} ${effect}`)).toEqual([
      'error none',
      'success applied',
    ])
    // The call that asked and the call that ran are one: they have one key, which the shop saw.
    expect(new Set(rows.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1)
    expect(orders()[0]).toContain(rows[0]?.idempotencyKey ?? 'no key')
  })

  test('runs once when two processes resume it at the same time', async () => {
    const id = await ask()
    await run('approve', path, id)
    await Promise.all([run('resume', path, ledger), run('resume', path, ledger)])
    expect(orders()).toHaveLength(1)
  })

  test('has one decision when two processes decide at the same time', async () => {
    const id = await ask()
    const answers = await Promise.all([run('approve', path, id), run('reject', path, id)])
    expect(answers.filter(({ status }) => status !== undefined)).toHaveLength(1)
    const [refused] = answers.filter(({ code }) => code !== undefined)
    expect(refused).toMatchObject({
      code: 'TOOL_APPROVAL_DECIDED',
      message: expect.stringMatching(/already (approved|rejected) by/),
    })
  })

  test('refuses arguments that violate the schema in a process without the tool, and stays pending', async () => {
    const id = await ask()
    expect(await run('approve', path, id, '{"sku":"lamp","amount":1000}')).toMatchObject({
      code: 'INVALID_INPUT',
    })
    expect(await ask()).toBe(id)
    await run('approve', path, id, '{"sku":"lamp","amount":2}')
    await run('resume', path, ledger)
    expect(orders()).toEqual([expect.stringMatching(/^2 lamp /)])
  })

  test('continues after a rejection, without the call', async () => {
    const id = await ask()
    expect(await run('reject', path, id)).toEqual({ status: 'rejected' })
    const { output } = await run('resume', path, ledger)
    expect(output).toContain('Tool call rejected: no reason was given')
    expect(orders()).toEqual([])
  })
})
