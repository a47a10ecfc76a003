import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RunResult } from '@smithers/sandbox'
import { expect, test } from 'vitest'
import { describeIsolations, newRoot, newSandbox } from '../fixtures/sandboxes.ts'
import { startSwapper } from '../fixtures/swapper.ts'

function nested(): { root: string; other: string } {
  const base = newRoot()
  const [root, other] = [join(base, 'root'), join(base, 'other')]
  mkdirSync(root)
  mkdirSync(other)
  writeFileSync(join(other, 'secret'), 'of another project')
  return { root, other }
}

describeIsolations('a root that a process above exchanges', (isolation) => {
  test.each(['a link', 'a directory'])('for %s is refused', async (kind) => {
    const { root, other } = nested()
    const sandbox = await newSandbox({ rootDir: root, isolation })
    expect((await sandbox.run('true')).status).toBe('exited')
    renameSync(root, `${root}-moved`)
    if (kind === 'a link') symlinkSync(other, root)
    else renameSync(other, root)
    const result = await sandbox.run('sh', ['-c', 'cat secret; touch written'])
    expect(result).toMatchObject({
      status: 'refused',
      output: '',
      error: { code: 'TOOL_ROOT_CHANGED', effect: 'none' },
    })
    expect(existsSync(join(root, 'written'))).toBe(false)
    // The control: a sandbox that is opened by the name now works there.
    const control = await newSandbox({ rootDir: root, isolation })
    expect((await control.run('cat', ['secret'])).output).toBe('of another project')
  })

  test('while commands start is never followed', async () => {
    const { root, other } = nested()
    const sandbox = await newSandbox({ rootDir: root, isolation })
    const swapper = await startSwapper([[root, other]])
    const results: RunResult[] = []
    try {
      for (let round = 0; round < 150; round += 1) {
        results.push(await sandbox.run('sh', ['-c', 'cat secret 2>/dev/null; touch written']))
      }
    } finally {
      await swapper.stop()
    }
    expect(results.filter(({ output }) => output.includes('of another project'))).toEqual([])
    // Only what tells of a command that did not start may be printed: bubblewrap notices the exchange, too.
    for (const { status, output, error } of results) {
      if (status === 'exited') expect(output).toBe('')
      else expect(error?.effect).toBe('none')
    }
    const withSecret = [root, other].find((path) => existsSync(join(path, 'secret'))) ?? ''
    expect(readdirSync(withSecret)).toEqual(['secret'])
  })
})
