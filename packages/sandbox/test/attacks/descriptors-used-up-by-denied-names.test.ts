import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeConfined } from '../fixtures/confinement.ts'

describeConfined(
  'more denied files than there are descriptors',
  (confinement) => {
    const deny = ['**/*.env']
    const script = 'cat *.env d*/*.env 2>/dev/null; echo ran'

    test('are hidden all the same', async () => {
      const rootDir = confinement.directory()
      for (let index = 0; index < 500; index += 1)
        writeFileSync(join(rootDir, `${index}.env`), 'KEY')
      const [result] = await confinement.sandbox({ rootDir, files: { deny } }, [script], {
        openFiles: 400,
      })
      expect(result).toMatchObject({ status: 'exited', output: 'ran\n' })
    })

    test('refuse the command when their directories cannot all be held', async () => {
      const rootDir = confinement.directory()
      for (let index = 0; index < 600; index += 1) {
        mkdirSync(join(rootDir, `d${index}`))
        writeFileSync(join(rootDir, `d${index}/x.env`), 'KEY')
      }
      const [result] = await confinement.sandbox({ rootDir, files: { deny } }, [script], {
        openFiles: 400,
      })
      expect(result).toMatchObject({ status: 'refused', code: 'TOOL_FILE_FAILED', output: '' })
      expect(result?.message).toContain('(EMFILE), so the deny option cannot be enforced')
    })

    test('refuse the command when they are too many to hide', async () => {
      const rootDir = confinement.directory()
      for (let index = 0; index < 1001; index += 1)
        writeFileSync(join(rootDir, `${index}.env`), 'K')
      const [result] = await confinement.sandbox({ rootDir, files: { deny } }, [script])
      expect(result).toMatchObject({ status: 'refused', code: 'TOOL_PATH_DENIED', output: '' })
      expect(result?.message).toContain('"**/*.env" match 1001 names, more than the 1000')
    })
  },
  ['namespaces', 'bubblewrap'],
)
