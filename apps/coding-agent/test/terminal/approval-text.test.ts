import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pc from 'picocolors'
import { describe, expect, test } from 'vitest'
import { approvalText } from '../../src/terminal/approval-text.ts'
import { temporaryFolder } from '../../../../packages/cli/test/fixtures/temporary-folder.ts'

const colors = pc.createColors(true)

describe('approvalText', () => {
  test('shows what write would change, in colour', async () => {
    const root = temporaryFolder()
    writeFileSync(join(root, 'a.txt'), 'one\ntwo\n')
    const text = await approvalText(
      'write',
      { path: 'a.txt', content: 'one\nthree\n' },
      root,
      colors,
    )
    const lines = text.split('\n')
    expect(lines).toContain(colors.red('-two'))
    expect(lines).toContain(colors.green('+three'))
    expect(lines).toContain(' one')
  })

  test('shows a new file, and one that leads out of the root, as all new', async () => {
    const root = temporaryFolder()
    for (const path of ['new.txt', '../../etc/hostname']) {
      const text = await approvalText('write', { path, content: 'x\n' }, root, colors)
      expect(text.split('\n').filter((line) => line.startsWith('\u001b[3'))).toEqual([
        expect.stringContaining('@@ -0,0 +1,1 @@'),
        colors.green('+x'),
      ])
    }
  })

  test('shows the patch of edit in colour, and the arguments of others as JSON', async () => {
    const patch = '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n'
    expect(await approvalText('edit', { path: 'x', patch }, '/', colors)).toContain(
      colors.green('+b'),
    )
    expect(await approvalText('bash', { cmd: 'ls' }, '/', colors)).toBe('{\n  "cmd": "ls"\n}')
  })

  test('lets no escape sequence of the agent reach the terminal', async () => {
    const text = await approvalText(
      'edit',
      { path: 'x', patch: '+\u001b[2Jgone' },
      '/',
      pc.createColors(false),
    )
    expect(text).toBe('+\\x1b[2Jgone')
  })
})
