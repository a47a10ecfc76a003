import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createBuiltinTools } from '@smithers/builtin-tools'
import { runWithToolContext } from '@smithers/tool-core'
import { describe, expect, test } from 'vitest'
import { createFileTask } from '../fixtures/file-task.ts'

/** Names under `private/` whose last part looks like a line of a permitted file, or like the end of a line. */
const names = [
  'private/ok: binary file matches (found \nX/notes',
  'private/b: binary file matches (found "\\0" byte around offset 5)\n./src/notes',
  'private/--\n./src/notes',
  'private/a\n./src/notes:1:x',
  'private/{"type":"begin","data":{"path":{"text":"./src/a"}}}\nnotes',
]

describe.each(['none', 'auto'] as const)('grep with isolation %s', (isolation) => {
  test.each(names)('prints nothing of the denied file %j', async (name) => {
    const { root, context } = createFileTask({ 'src/a': 'token of a\n' }, { isolation })
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), 'token secret\n')
    const { grep } = createBuiltinTools({ files: { deny: ['private/**'] } })
    const found = await runWithToolContext(context, () =>
      grep.execute({ pattern: 'token', hidden: true }, { toolCallId: 'call-1', messages: [] }),
    )
    expect(found).toBe('src/a:1:token of a\n')
  })
})
