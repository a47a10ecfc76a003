import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { CrashOrder, CrashPoint } from './fixtures/programs/crashing-attempt.ts'

// An attempt is killed at each of four points, and the next attempt makes the same call (docs/specification/durability.md).

const program = new URL('fixtures/programs/crashing-attempt.ts', import.meta.url).pathname
let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'smithers-crash-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true })
})

type Mode = Pick<CrashOrder, 'onRetry' | 'verifies' | 'honoursKeys'>

async function attempt(order: CrashOrder): Promise<{ signal: string | null; answer: string }> {
  const child = spawn(
    process.execPath,
    [
      '--conditions=@smithers/source',
      '--disable-warning=ExperimentalWarning',
      program,
      JSON.stringify(order),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  let answer = ''
  child.stdout.on('data', (chunk: Buffer) => {
    answer += chunk.toString()
  })
  const [, signal] = (await once(child, 'close')) as [number | null, string | null]
  return { signal, answer: answer.trim() }
}

/** Kills the first attempt at a point, lets the second run, and counts the charges. */
async function chargesAfter(mode: Mode, crashAt: CrashPoint): Promise<[number, string]> {
  const name = `${crashAt}-${mode.onRetry}-${mode.verifies}-${mode.honoursKeys}`
  const files = { logFile: join(folder, `${name}.db`), providerFile: join(folder, `${name}.txt`) }
  writeFileSync(files.providerFile, '')
  const first = await attempt({ ...files, ...mode, attempt: 1, crashAt })
  expect(first).toEqual({ signal: 'SIGKILL', answer: '' })
  const second = await attempt({ ...files, ...mode, attempt: 2, crashAt: null })
  expect(second.signal).toBeNull()
  const charges = readFileSync(files.providerFile, 'utf8').split('\n').filter(Boolean)
  return [charges.length, second.answer]
}

const ran = 'charged'
const blocked = 'TOOL_CALL_BLOCKED'

describe('a call whose process was killed', () => {
  test.each([
    // provider honours keys, onRetry, verify: charges and answer for P0, P1, P2, P3
    [true, 'warn', false, [1, ran], [1, ran], [1, ran], [1, ran]],
    [true, 'block', false, [1, ran], [0, blocked], [1, blocked], [1, blocked]],
    [false, 'warn', false, [1, ran], [1, ran], [2, ran], [2, ran]],
    [false, 'reuse', false, [1, ran], [1, ran], [2, ran], [1, ran]],
    [false, 'block', false, [1, ran], [0, blocked], [1, blocked], [1, blocked]],
    [false, 'reuse', true, [1, ran], [1, ran], [1, ran], [1, ran]],
    [true, 'reuse', true, [1, ran], [1, ran], [1, ran], [1, ran]],
  ] as const)(
    'with a provider that honours keys (%s), %s, verify %s: %s %s %s %s',
    async (honoursKeys, onRetry, verifies, ...expected) => {
      const mode = { honoursKeys, onRetry, verifies }
      const outcomes: [number, string][] = []
      for (const point of ['P0', 'P1', 'P2', 'P3'] as const) {
        outcomes.push(await chargesAfter(mode, point))
      }
      expect(outcomes).toEqual(expected)
    },
  )
})
