import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createWorkspace } from '../fixtures/workspace.ts'

const program = join(import.meta.dirname, '../fixtures/programs/count-up.ts')
const times = 1000

interface Counter {
  readonly child: ChildProcessByStdio<Writable, Readable, null>
  /** Everything it has printed when it has ended. */
  readonly ended: Promise<string>
}

/** Starts a process that is ready to count, or hangs inside an update. */
async function startCounter(root: string, method: 'update' | 'plain' | 'hang'): Promise<Counter> {
  const flags = ['--conditions=@smithers/source', '--disable-warning=ExperimentalWarning']
  const child = spawn(process.execPath, [...flags, program, root, String(times), method], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    printed += chunk
  })
  await once(child.stdout, 'data')
  return { child, ended: once(child, 'close').then(() => printed) }
}

/** The number in the file after two processes have added to it. */
async function countOfTwo(
  method: 'update' | 'plain',
): Promise<{ count: number; printed: string[] }> {
  const { root } = createWorkspace({ count: '0' })
  const counters = await Promise.all([startCounter(root, method), startCounter(root, method)])
  for (const { child } of counters) child.stdin.end()
  const printed = await Promise.all(counters.map(({ ended }) => ended))
  return { count: Number(readFileSync(join(root, 'count'), 'utf8')), printed }
}

describe.runIf(process.platform === 'linux')('a file changed by two processes', () => {
  test('keeps every update, though plain reads and writes lose some', async () => {
    const locked = await countOfTwo('update')
    expect(locked.printed).toEqual(['ready 0 failed', 'ready 0 failed'])
    expect(locked.count).toBe(2 * times)
    // On a busy machine one process can be done before the other is let on the processor: on until they met.
    let lost = 0
    while (lost === 0) {
      lost = 2 * times - (await countOfTwo('plain')).count
    }
    expect(lost).toBeGreaterThan(0)
  })

  test('can be changed again after a process was killed inside an update', async () => {
    const { root, files } = createWorkspace({ count: '0' })
    for (let round = 1; round <= 3; round += 1) {
      const { child, ended } = await startCounter(root, 'hang')
      const update = files.updateText('count', (text) => String(Number(text) + 1))
      child.kill('SIGKILL')
      await ended
      await update
      expect(readFileSync(join(root, 'count'), 'utf8')).toBe(String(round))
    }
  })
})
