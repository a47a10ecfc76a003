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

/**
 * What a command may print that works in the directory that was opened. Landlock's supervisor looks up where the file and
 * the root are, one after the other, and refuses when the root was exchanged between.
 */
const honestOutputs = ['wrote\n', "touch: setting times of 'written': Operation not permitted\n"]

describeIsolations('a root that another program exchanges', (isolation, backend) => {
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
    // Without isolation a command may follow any name that it knows.
    const byName = backend === 'none' ? '' : 'cat "$1/secret"; touch "$1/by-name";'
    const script = `{ cat secret; ${byName} } 2>/dev/null; touch written && echo wrote`
    const results: RunResult[] = []
    try {
      for (let round = 0; round < 150; round += 1) {
        results.push(await sandbox.run('sh', ['-c', script, 'sh', root]))
      }
    } finally {
      await swapper.stop()
    }
    expect(results.filter(({ output }) => output.includes('of another project'))).toEqual([])
    for (const { status, output, error } of results) {
      // bubblewrap notices the exchange, too, and says so in the output of a command that never started.
      if (status === 'exited') expect(honestOutputs).toContain(output)
      else expect(error?.effect).toBe('none')
    }
    const withSecret = [root, other].find((path) => existsSync(join(path, 'secret'))) ?? ''
    expect(readdirSync(withSecret)).toEqual(['secret'])
  })
})
