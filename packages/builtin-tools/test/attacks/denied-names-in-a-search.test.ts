import { createBuiltinTools, type GlobInput } from '@smithers/builtin-tools'
import { runWithToolContext } from '@smithers/tool-core'
import { describe, expect, test } from 'vitest'
import { createFileTask } from '../fixtures/file-task.ts'
import { modelReads } from '../fixtures/model-reads.ts'

const files = { 'a.txt': 'x\n', 'secrets/id_rsa': 'token\n', 'secrets/deep/pin': 'x\n' }

function searching(deny: readonly string[]) {
  const { context } = createFileTask(files, { isolation: 'none' })
  const { glob, grep } = createBuiltinTools({
    only: ['glob', 'grep'],
    paging: true,
    files: { deny },
  })
  let calls = 0
  /** What the model reads. */
  async function reads(tool: typeof glob, input: GlobInput): Promise<unknown> {
    const toolCallId = `${crypto.randomUUID()}-${(calls += 1)}`
    const options = { toolCallId, messages: [] }
    const output = await runWithToolContext(context, () => tool.execute(input, options))
    return modelReads(tool, { toolCallId, input, output })
  }
  return {
    glob: (pattern: string, path?: string) => reads(glob, { pattern, path }),
    grep: (pattern: string) => reads(grep, { pattern }),
  }
}

describe.each([['secrets/**'], ['secrets/{id_rsa,deep/**}'], ['secrets']])(
  'what a search says without isolation of files denied by %s',
  (deny) => {
    test('tells no guessed name from a wrong one', async () => {
      const { glob } = searching([deny])
      expect(await glob('id_r*')).toBe(
        'No path below "." matches "id_r*" (1 file seen; ignored files skipped).',
      )
      expect(await glob('pin')).toBe(
        'No path below "." matches "pin" (1 file seen; ignored files skipped).',
      )
      expect(await glob('**/deep/')).not.toContain('would match')
    })

    test('says the same of a text in them as of one that is nowhere', async () => {
      const { grep } = searching([deny])
      const present = await grep('token')
      expect(present).toBe(await grep('nowhere'))
      expect(present).not.toMatch(/[23] files/)
    })
  },
)

test('control: names and numbers of permitted files are told', async () => {
  const { glob, grep } = searching(['other/**'])
  expect(await glob('id_r*')).toBe(
    'No path below "." matches "id_r*" (3 files seen; ignored files skipped). 1 would match "**/id_r*".',
  )
  expect(await searching(['other']).grep('nowhere')).toContain('3 files searched')
  expect(await grep('token')).toBe('secrets/id_rsa:1:token\n')
})
