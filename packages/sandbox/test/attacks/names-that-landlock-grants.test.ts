import { chownSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSandbox } from '@smithers/sandbox'
import { expect, test } from 'vitest'
import { describeConfined } from '../fixtures/confinement.ts'

describeConfined(
  'a name in the root that Landlock cannot except from its directory',
  (confinement) => {
    const root = (): string => {
      const directory = confinement.directory()
      const { uid, gid } = statSync(directory)
      mkdirSync(join(directory, '.git/hooks'), { recursive: true })
      writeFileSync(join(directory, '.env'), 'the secret')
      for (const name of ['.git', '.git/hooks', '.env']) chownSync(join(directory, name), uid, gid)
      return directory
    }

    test('is readable when it is denied, and the report says so', async () => {
      const options = { rootDir: root(), files: { deny: ['.env'] } }
      const [result] = await confinement.sandbox(options, ['cat .env'])
      const codes = await confinement.reportedCodes({ files: { deny: ['.env'] } })
      expect([result?.output, codes.includes('DENIED_NAMES_READABLE')]).toEqual([
        'the secret',
        true,
      ])
      expect(await confinement.reportedCodes({})).not.toContain('DENIED_NAMES_READABLE')
    })

    test('is reported afterwards when it is protected, and the report says so', async () => {
      const [result] = await confinement.sandbox({ rootDir: root() }, [
        'echo evil > .git/hooks/pre-commit',
      ])
      expect(result?.violations.map(({ rule }) => rule)).toContain('protected-name')
      expect(await confinement.reportedCodes({})).toContain('PROTECTED_NAMES_WATCHED')
      const none = await confinement.reportedCodes({ files: { protect: 'none' } })
      expect(none).not.toContain('PROTECTED_NAMES_WATCHED')
    })

    test('is refused as a policy when the files must be enforced', async () => {
      const options = {
        rootDir: root(),
        files: { deny: ['.env'] },
        isolation: { require: ['files'], backend: 'landlock' },
      } as const
      await expect(createSandbox(options)).rejects.toMatchObject({
        code: 'TOOL_ISOLATION_UNAVAILABLE',
        message: expect.stringContaining('files.deny'),
      })
    })
  },
  ['landlock'],
)
