import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { defineTool } from '@smithers/tool-core'
import { runTask } from '@smithers/workflow'
import { scriptedAgent } from '../fixtures/scripted-agent.ts'

const shout = defineTool({ name: 'shout', schema: z.object({}), execute: () => 'HEY' })

describe('runTask', () => {
  test.each([
    ['tools', { tools: [shout] }, {}],
    ['agent.tools', {}, { tools: [shout] }],
  ])(
    'refuses %s that are a list, whose tools would be called "0" and "1"',
    async (option, own, ofAgent) => {
      const { agent, prompts } = scriptedAgent({}, ['done'])
      const task = {
        agent: { generate: agent.generate.bind(agent), ...ofAgent },
        prompt: 'x',
        ...own,
      }
      await expect(runTask(task as never)).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        details: { option },
        message: expect.stringContaining('toolset([a, b])'),
      })
      expect(prompts).toEqual([])
    },
  )
})
