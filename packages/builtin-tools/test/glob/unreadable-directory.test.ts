import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createBuiltinTools } from '@smithers/builtin-tools'
import { runWithToolContext } from '@smithers/tool-core'
import { expect, test, vi } from 'vitest'
import { createFileTask } from '../fixtures/file-task.ts'

// root may look into every directory, so a program of our own says what ripgrep says to other users.
const program = vi.hoisted(() => ({ path: '' }))
vi.mock('../../src/search/find-ripgrep.ts', () => ({
  ripgrepPath: () => Promise.resolve(program.path),
}))

const refused = (path: string): string => `rg: ./${path}: Permission denied (os error 13)`

function finding(said: readonly string[]) {
  const { root, context } = createFileTask({ 'a.ts': '', 'closed/b.ts': '', 'denied/c.ts': '' })
  program.path = join(root, 'rg')
  const lines = said.map((line) => `echo '${line}' >&2`).join('\n')
  writeFileSync(program.path, `#!/bin/sh\nprintf './a.ts\\0'\n${lines}\nexit 2\n`)
  chmodSync(program.path, 0o755)
  const { glob } = createBuiltinTools({
    only: ['glob'],
    isolation: 'none',
    files: { deny: ['denied'] },
  })
  const call = { toolCallId: 'call-1', messages: [] }
  return (pattern: string) => runWithToolContext(context, () => glob.execute({ pattern }, call))
}

test('glob says where it could not look, beside what it found and in place of nothing', async () => {
  const find = finding([refused('closed')])
  const note = '[ripgrep could not search everything: ./closed: not searched]\n'
  expect(await find('*.ts')).toBe(`a.ts\n${note}`)
  expect(await find('*.py')).toBe(note)
})

test('glob says nothing of denied directories, and of those that do not exist', async () => {
  const find = finding([refused('denied'), refused('elsewhere')])
  expect(await find('*.ts')).toBe('a.ts\n')
  expect(await find('*.py')).toBe('')
})
