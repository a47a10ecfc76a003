import { chownSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { describeConfined } from '../fixtures/confinement.ts'

/** A name from text of one byte a character, so that it need not be UTF-8. */
const bytes = (root: string, name: string): Buffer =>
  Buffer.concat([Buffer.from(`${root}/`), Buffer.from(name, 'latin1')])

describeConfined(
  'a denied file whose path is not valid UTF-8',
  (confinement) => {
    test('shows nothing to any reader, and its neighbours all', async () => {
      const rootDir = confinement.directory()
      const { uid, gid } = statSync(rootDir)
      const names = [
        'a\xff/.env',
        'a\xff/b\xfe/.env',
        '\xe9.pem',
        'a\xff/\xe9\xff.pem',
        '\xc3\xa9\xff.env',
      ]
      for (const directory of ['a\xff', 'a\xff/b\xfe']) mkdirSync(bytes(rootDir, directory))
      for (const name of [...names, '\xe9.txt', 'a\xff/free']) {
        writeFileSync(bytes(rootDir, name), names.includes(name) ? 'secret' : 'free ')
        chownSync(bytes(rootDir, name), uid, gid)
      }
      const files = { deny: ['**/.env', '**/*.pem', 'é*.env'] }
      const [result] = await confinement.sandbox({ rootDir, files }, [
        'find . -type f -exec cat {} + 2>/dev/null; cat a*/.env a*/b*/.env *.pem 2>/dev/null; grep -r secret . ; echo ran',
      ])
      expect(result).toMatchObject({ status: 'exited' })
      expect(result?.output).toMatch(/free free/)
      expect(result?.output).toContain('ran')
      expect(result?.output).not.toContain('secret')
      expect(readdirSync(rootDir).length).toBe(4)
    })
  },
  ['namespaces', 'bubblewrap'],
)
