import { createCommandTools } from '@smithers/builtin-tools'
import {
  createToolRun,
  pendingApprovals,
  resolveToolApproval,
  type ToolRunOptions,
} from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { describe, expect, test } from 'vitest'
import { countingServer, curlOf, hasOwnNetwork, networkRun } from '../fixtures/network-run.ts'

/** All that a command in the background prints, or why it failed. */
async function inBackground(options: ToolRunOptions, args: string[]): Promise<string> {
  const run = createToolRun({ runId: 'run-1', attempt: 2, ...options })
  const { bash, bash_output } = run.tools(createCommandTools({ warn() {} }))
  const call = { toolCallId: 'background', messages: [] }
  let text = await bash
    .execute({ cmd: 'curl', args, background: true }, call)
    .catch((error: Error) => error.message)
  const id = /bash_output \{"id":"(job_\w+)"/u.exec(text)?.[1]
  if (id !== undefined) {
    do text += await bash_output.execute({ id, waitMs: 5_000 }, call)
    while (!text.includes(`${id} exited`))
  }
  await run.settle()
  return text
}

describe.runIf(hasOwnNetwork)('an approval of a host', () => {
  test.each(['call', 'run'] as const)(
    'that is given for the %s serves a command in the background only then',
    async (remember) => {
      const server = await countingServer()
      const log = createMemoryLog()
      const network = { allow: [server.address], onDecision: () => 'ask' as const }
      const first = networkRun({ network, log })
      await expect(first.curl(server.address)).rejects.toThrow('ran without')
      const [{ id } = { id: '' }] = await pendingApprovals({ log })
      await resolveToolApproval({ log, id, approved: true, approvedArgs: { remember } })
      const { rootDir } = first
      const text = await inBackground({ network, log, rootDir }, curlOf(server.address))
      expect(server.requests).toHaveLength(remember === 'run' ? 1 : 0)
      expect(text).toContain(remember === 'run' ? 'hello' : 'It needs approval')
      // Nothing new was asked for.
      expect(await pendingApprovals({ log })).toEqual([])
    },
  )
})
