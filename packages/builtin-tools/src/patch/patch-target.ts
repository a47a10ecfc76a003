import type { SandboxFiles } from '@smithers/sandbox'

/** The file that a patch must change. */
export interface PatchTarget {
  /** As the caller wrote it. */
  readonly path: string
  /** Whether a name from a header of the patch means this file. */
  isNamedBy(name: string): Promise<boolean>
}

/**
 * The target for a file under the root. A header names it in any spelling that leads to the same file: relative or
 * absolute, behind the `a/` and `b/` of git, through links. A name that leads to no file may also be the end of the absolute
 * path, as `diff` writes it in a directory above or below the root.
 */
export function fileTarget(files: SandboxFiles, path: string): PatchTarget {
  const written = tidy(path.replaceAll('\\', '/'))
  let own: Promise<string | undefined> | undefined
  return {
    path,
    async isNamedBy(name) {
      if (name === written || (/^[ab]\//u.test(name) && name.slice(2) === written)) return true
      const spellings = spellingsOf(name)
      if (spellings.includes(written)) return true
      own ??= resolved(files, path)
      const target = await own
      // A path that leads nowhere fails later, with the error for that.
      if (target === undefined) return true
      const found = await Promise.all(spellings.map((spelling) => resolved(files, spelling)))
      if (found.includes(target)) return true
      const leadsElsewhere = found.some((each) => each !== undefined)
      const absolute = `${files.rootDir}/${target}`
      return !leadsElsewhere && spellings.some((spelling) => absolute.endsWith(`/${spelling}`))
    },
  }
}

async function resolved(files: SandboxFiles, path: string): Promise<string | undefined> {
  try {
    return (await files.stat(path)).path
  } catch {
    // Missing, denied or outside the root: not the file that is edited.
    return undefined
  }
}

/** What a header's name can mean: with and without a date, and the prefix that git writes or that replaces a slash. */
function spellingsOf(name: string): readonly string[] {
  const trimmed = name.trim()
  const spellings = [trimmed, withoutDate(trimmed)].flatMap((written) => {
    const bare = written.replace(/^[abciow]\//u, '')
    const fromRoot = bare.replace(/^\/+/u, '')
    return bare === written ? [written, fromRoot] : [written, bare, fromRoot, `/${bare}`]
  })
  return [...new Set(spellings.filter((spelling) => spelling !== '').map(tidy))]
}

function tidy(name: string): string {
  return name.replaceAll(/\/{2,}/gu, '/').replace(/^(?:\.\/)+/u, '')
}

const dateAtEnd = /\s\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: ?(?:Z|[+-]\d\d:?\d\d))?$/u

/** Fits " 2024-01-01 00:00:00.123456789 +0000". */
const maxDateLength = 48

/** Searches the end only: matching from each of many blanks would take quadratic time. */
function withoutDate(name: string): string {
  const end = name.slice(-maxDateLength)
  const date = dateAtEnd.exec(end)
  return date === null ? name : name.slice(0, date.index - end.length).trimEnd()
}
