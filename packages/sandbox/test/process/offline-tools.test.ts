import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeIsolations, newSandbox } from '../fixtures/sandboxes.ts'

describeIsolations('package managers without a network', (isolation) => {
  test('fail at once, with a hint, and work with what is there', async (context) => {
    const sandbox = await newSandbox({ isolation })
    if (sandbox.report.enforced.network !== 'enforced') {
      context.skip('the network is open')
      return
    }
    const { rootDir } = sandbox
    const scripts = { test: 'echo tested' }
    writeFileSync(join(rootDir, 'package.json'), JSON.stringify({ name: 'x', scripts }))
    const missing = await sandbox.run('npx', ['--yes', 'a-tool-that-is-not-installed'])
    // Before, npm tried again until the time limit killed it.
    expect(missing).toMatchObject({ status: 'exited', exitCode: 1 })
    expect(missing.output).toContain('ENOTCACHED')
    expect(missing.hint).toMatch(
      /^The command tried to use the network, and commands have none here/,
    )
    expect((await sandbox.run('npm', ['test'])).output).toContain('\ntested\n')
  })

  test('are not told so with the network open, or when the caller says otherwise', async () => {
    const print = ['-c', 'echo "$npm_config_offline $GOPROXY"']
    const open = await newSandbox({ isolation, network: 'host' })
    expect((await open.run('sh', print)).output).toBe(' \n')
    const own = await newSandbox({ isolation, env: { set: { npm_config_offline: 'false' } } })
    expect((await own.run('sh', print)).output).toMatch(/^false /)
  })
})
