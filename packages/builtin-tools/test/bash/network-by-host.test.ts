import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createBuiltinTools, type RanCommand } from '@smithers/builtin-tools'
import { createSandbox } from '@smithers/sandbox'
import { createToolRun } from '@smithers/tool-core'
import { afterAll, expect, test } from 'vitest'

const rootDir = realpathSync(mkdtempSync(join(tmpdir(), 'smithers-hosts-')))
afterAll(() => rmSync(rootDir, { recursive: true }))

const sandbox = await createSandbox({ rootDir, warn() {} })
const { backend } = sandbox.report
await sandbox.close()
const hasOwnNetwork = backend === 'namespaces' || backend === 'bubblewrap'

test.runIf(hasOwnNetwork)(
  'bash tells the model which host was refused, and what allows it',
  async () => {
    const ran: RanCommand[] = []
    const tools = createBuiltinTools({
      rootDir,
      network: { allow: ['good.test'] },
      onCommand: (command) => ran.push(command),
    })
    const run = createToolRun({ rootDir })
    const { bash } = run.tools(tools)
    const call = bash.execute(
      { cmd: 'curl', args: ['-sS', '-m', '60', 'https://evil.test/'] },
      { toolCallId: 'call-1', messages: [] },
    )
    await expect(call).rejects.toThrow(
      'Blocked by the sandbox: evil.test:443 is not in network.allow. The user who runs the sandbox can add "evil.test" to network.allow.',
    )
    expect(ran[0]?.result.network).toMatchObject({
      decisions: [{ host: 'evil.test', port: 443, allowed: false, reason: 'not-allowed' }],
      omitted: 0,
    })
  },
)

test("the words of a sandbox's network are not options of the tools", () => {
  expect(() => createBuiltinTools({ network: 'host' as never })).toThrow('allowNetwork')
})
