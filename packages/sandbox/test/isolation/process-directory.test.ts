import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { processSpace, startTimeOf } from '../../src/files/io/process-identity.ts'
import { describeIsolations, newRoot } from '../fixtures/sandboxes.ts'

const program = join(import.meta.dirname, '../fixtures/programs/leave-temporary-files.ts')

function start(temporary: string, isolation: unknown, how: 'end' | 'wait') {
  return spawn(
    process.execPath,
    [
      '--conditions=@smithers/source',
      '--disable-warning=ExperimentalWarning',
      program,
      newRoot(),
      JSON.stringify(isolation),
      how,
    ],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, TMPDIR: temporary },
    },
  )
}

const left = (directory: string): string[] =>
  readdirSync(directory).filter((name) => name.startsWith('smithers-process-'))

describeIsolations('the temporary directories of a process', (isolation, backend) => {
  test('are gone when it ends, and go with the next process when it was killed', async () => {
    const temporary = newRoot()
    const killed = start(temporary, isolation, 'wait')
    await once(killed.stdout, 'data')
    const before = left(temporary)
    // Without isolation commands have no directories of ours.
    expect(before).toHaveLength(backend === 'none' ? 0 : 1)
    killed.kill('SIGKILL')
    await once(killed, 'exit')
    // The control: nothing has removed them yet.
    expect(left(temporary)).toEqual(before)

    const next = start(temporary, isolation, 'end')
    next.stdout.resume()
    await once(next, 'exit')
    expect(left(temporary)).toEqual([])
    expect(existsSync('/etc/passwd')).toBe(true)
  })

  test('are left alone while their process lives, or when that cannot be known', async () => {
    const temporary = newRoot()
    const others = {
      'smithers-process-alive': `${processSpace()} ${process.pid} ${startTimeOf(process.pid)}`,
      'smithers-process-elsewhere': '0123456789abcdef-1 999999999 1',
      'smithers-process-unknown': null,
    }
    for (const [name, owner] of Object.entries(others)) {
      mkdirSync(join(temporary, name))
      if (owner !== null) writeFileSync(join(temporary, name, 'owner'), owner)
    }
    const next = start(temporary, isolation, 'end')
    next.stdout.resume()
    await once(next, 'exit')
    expect(left(temporary).toSorted()).toEqual(Object.keys(others).toSorted())
  })
})
