import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const secret = 'A SECRET OUTSIDE THE ROOT'

/** A root with a directory that an attacker exchanges with a link to the same names outside. */
export interface Arena {
  readonly folder: string
  readonly root: string
  readonly outside: string
  readonly logPath: string
  /** What is exchanged. */
  readonly pair: readonly [string, string]
  /** True when a file outside has another content; puts it right again. */
  wasChanged(): boolean
  remove(): void
}

export function createArena(): Arena {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'mcp-bench-')))
  const root = join(folder, 'root')
  const outside = join(folder, 'outside')
  for (const directory of [root, outside, join(root, 'raced')]) mkdirSync(directory)
  for (const name of ['file.txt', 'written.txt']) writeFileSync(join(outside, name), secret)
  writeFileSync(join(root, 'raced/file.txt'), 'inside')
  writeFileSync(join(root, 'raced/written.txt'), 'inside')
  writeFileSync(join(root, 'kilobyte.txt'), 'x'.repeat(1024))
  symlinkSync(outside, join(root, 'link'))
  symlinkSync(outside, join(root, 'raced-link'))
  symlinkSync(join(outside, 'file.txt'), join(root, 'file-link'))
  symlinkSync(join(outside, 'new.txt'), join(root, 'dangling'))
  return {
    folder,
    root,
    outside,
    logPath: join(folder, 'calls.db'),
    pair: [join(root, 'raced'), join(root, 'raced-link')],
    wasChanged() {
      let changed = false
      for (const name of ['file.txt', 'written.txt']) {
        const path = join(outside, name)
        if (readFileSync(path, 'utf8') === secret) continue
        changed = true
        writeFileSync(path, secret)
      }
      const created = join(outside, 'new.txt')
      if (lstatSync(created, { throwIfNoEntry: false }) !== undefined) {
        changed = true
        rmSync(created)
      }
      return changed
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
