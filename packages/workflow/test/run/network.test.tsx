import { getToolContext, type NetworkAccess } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import {
  createSmithers,
  runWorkflow,
  type RunWorkflowOptions,
  Task,
  Workflow,
} from '@smithers/workflow'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'

const { smithers } = createSmithers({ note: z.object({ text: z.string() }) })

type Options = Pick<RunWorkflowOptions, 'network' | 'allowNetwork' | 'acceptWiderNetwork'>

/** A run that stops in its first attempt, so that it can be resumed with other options. */
function stoppedRun() {
  const log = createMemoryLog()
  const seen: { network: NetworkAccess | undefined; allowNetwork: boolean | undefined }[] = []
  let broken = true
  const workflow = smithers(() => (
    <Workflow name="network">
      <Task id="look">
        {() => {
          const context = getToolContext()
          seen.push({ network: context?.network, allowNetwork: context?.allowNetwork })
          if (broken) throw new Error('no')
        }}
      </Task>
    </Workflow>
  ))
  const start = async (options: Options): Promise<void> => {
    await expect(runWorkflow(workflow, { ...options, runId: 'run-1', log })).rejects.toThrow('no')
  }
  const resume = (options: Options = {}): Promise<unknown> => {
    broken = false
    return runWorkflow(workflow, { ...options, runId: 'run-1', log })
  }
  return { log, seen, start, resume }
}

const network = { allow: ['registry.test', 'git.test:22'], deny: ['evil.registry.test'] }

describe('the network of a workflow', () => {
  test('reaches its tools, and is inherited by a resume', async () => {
    const { seen, start, resume } = stoppedRun()
    await start({ network: { ...network, onDecision: 'ask' } })
    await resume()
    const expected = { network: { ...network, onDecision: 'ask' }, allowNetwork: false }
    expect(seen).toEqual([expected, expected])
  })

  test('may become narrower, and is so from then on', async () => {
    const { seen, start, resume } = stoppedRun()
    await start({ network })
    await start({ network: { allow: ['registry.test'], deny: network.deny } })
    await expect(resume({ network })).rejects.toThrow('allow git.test:22')
    await resume()
    expect(seen.at(-1)?.network?.allow).toEqual(['registry.test'])
  })

  test.each<[string, Options, Options]>([
    ['a question less', { network: { ...network, onDecision: 'ask' } }, { network }],
    ['a name below', { network: { allow: ['*.a.test'] } }, { network: { allow: ['x.a.test'] } }],
    ['one port', { network: { allow: ['a.test:*'] } }, { network: { allow: ['A.test:22'] } }],
  ])('is resumed with less: %s', async (_, begun, resumed) => {
    const { seen, start, resume } = stoppedRun()
    await start(begun)
    await resume(resumed)
    expect(seen[1]).toMatchObject(resumed)
  })

  test.each<[string, Options, Options]>([
    ['allow evil.test', { network }, { network: { ...network, allow: ['evil.test'] } }],
    ['allow registry.test:*', { network }, { network: { ...network, allow: ['registry.test:*'] } }],
    ['no deny evil.registry.test', { network }, { network: { allow: network.allow } }],
    ['another onDecision', { network }, { network: { ...network, onDecision: 'ask' } }],
    ['allow b.test', { network: { allow: ['*.a.test'] } }, { network: { allow: ['b.test'] } }],
    ['allow a.test', { network: { allow: ['*.a.test'] } }, { network: { allow: ['a.test'] } }],
    ['allow *.a.test', { network: { allow: ['x.a.test'] } }, { network: { allow: ['*.a.test'] } }],
    ['allow a.test', { network: { allow: ['a.test:22'] } }, { network: { allow: ['a.test'] } }],
    ['allowNetwork', { network }, { allowNetwork: true }],
    ['allowNetwork', {}, { allowNetwork: true }],
    ['allow registry.test', {}, { network: { allow: ['registry.test'] } }],
    ['allow registry.test', { allowNetwork: false }, { network: { allow: ['registry.test'] } }],
  ])('is not resumed with more: %s', async (wider, begun, resumed) => {
    const { seen, start, resume } = stoppedRun()
    await start(begun)
    await expect(resume(resumed)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining(`would reach more than when it began: ${wider}`),
      details: { runId: 'run-1', wider: [wider] },
    })
    expect(seen).toHaveLength(1)
    // The control, and the way to say that it is meant.
    await resume({ ...resumed, acceptWiderNetwork: true })
    expect(seen).toHaveLength(2)
    expect(seen[1]).toMatchObject(resumed)
  })

  test('may be replaced by hosts where it was open, and by none', async () => {
    const { seen, start, resume } = stoppedRun()
    await start({ allowNetwork: true })
    await start({ network })
    await resume({ allowNetwork: false })
    expect(seen).toEqual([
      { network: undefined, allowNetwork: true },
      { network, allowNetwork: false },
      { network: undefined, allowNetwork: false },
    ])
  })

  test('is not resumed without the function that decided about it', async () => {
    const { log, seen, start, resume } = stoppedRun()
    const onDecision = () => 'deny' as const
    await start({ network: { ...network, onDecision } })
    const [run] = (await log.runs?.list({ runId: 'run-1' })) ?? []
    expect(JSON.parse(run?.optionsJson ?? '')).toMatchObject({
      network: { ...network, onDecision: 'function' },
    })
    await expect(resume()).rejects.toThrow('Pass network with it again.')
    await expect(resume({ network })).rejects.toThrow('another onDecision')
    expect(seen).toHaveLength(1)
    await resume({ network: { ...network, onDecision } })
    expect(seen).toHaveLength(2)
  })

  test.each([{ allow: 'registry.test' }, 'host', { allow: [], denny: [] }])(
    'is refused as %j, in a resume too',
    async (wrong) => {
      const { start, resume } = stoppedRun()
      await start({ network })
      await expect(resume({ network: wrong as never })).rejects.toThrow('network must be {')
    },
  )
})
