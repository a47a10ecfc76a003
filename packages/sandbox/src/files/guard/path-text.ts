import { pathEscape, pathInvalid } from '../file-error.ts'
import { fileLimits } from '../file-limits.ts'
import { checkWindowsName } from './windows-name.ts'

/** The path syntax of a platform, and the root as paths may spell it. */
export interface PathSyntax {
  readonly windows: boolean
  /*   * The root directory as absolute paths may spell it: its canonical path and the path given in the options, each split
   * into components.
   */
  readonly rootSpellings: readonly (readonly string[])[]
}

const posixSeparator = /\//u
const windowsSeparator = /[\\/]/u
const loneSurrogate = /\p{Surrogate}/u

/** Splits a path into components. Keeps `''` and `'.'`: after the last name they mean that it is a directory. */
function split(text: string, syntax: Pick<PathSyntax, 'windows'>): string[] {
  return text.split(syntax.windows ? windowsSeparator : posixSeparator)
}

function isAbsolute(text: string, syntax: Pick<PathSyntax, 'windows'>): boolean {
  return syntax.windows ? /^(?:[\\/]|[a-z]:)/iu.test(text) : text.startsWith('/')
}

/** The non-empty components of an absolute directory. */
export function directoryComponents(path: string, syntax: Pick<PathSyntax, 'windows'>): string[] {
  return split(path, syntax).filter((name) => name !== '' && name !== '.')
}

/**
 * The components of a path or link target. They start at `'root'` for an absolute path under the root, else at the
 * directory that contains the path or link.
 *
 * An absolute path counts as inside only when its components begin with those of the root, so `/root-evil` is not
 * inside `/root`, whatever the file system would make of it.
 *
 * @throws `TOOL_PATH_INVALID` for an empty path, a NUL byte, or a path or name that is too long.
 * @throws `TOOL_PATH_ESCAPE` for an absolute path elsewhere.
 */
export function parsePath(
  text: string,
  syntax: PathSyntax,
  shown: string = text,
): { readonly from: 'root' | 'here'; readonly names: readonly string[] } {
  if (text === '')
    throw pathInvalid(
      shown,
      'is empty. Pass a path relative to the root directory; "." is the root.',
    )
  if (text.includes('\0'))
    throw pathInvalid(shown, 'contains a NUL byte, which file names cannot contain.')
  // A UTF-16 unit takes at most three bytes, so most paths need no counting.
  if (
    text.length > fileLimits.maxPathBytes / 3 &&
    Buffer.byteLength(text) >= fileLimits.maxPathBytes
  ) {
    throw pathInvalid(shown, `is too long: at most ${fileLimits.maxPathBytes - 1} bytes.`)
  }
  const components = split(text, syntax)
  const absolute = isAbsolute(text, syntax)
  const names = absolute ? belowRoot(components, syntax) : components
  if (names === undefined) throw pathEscape(shown)
  for (const name of names) checkName(name, syntax, shown)
  return { from: absolute ? 'root' : 'here', names }
}

/** The part of an absolute path after the root; undefined when the path does not begin with the root. */
function belowRoot(
  components: readonly string[],
  syntax: PathSyntax,
): readonly string[] | undefined {
  const spelled = components.filter((name) => name !== '' && name !== '.')
  const same = syntax.windows
    ? (a: string, b: string | undefined) => a.toLowerCase() === b?.toLowerCase()
    : (a: string, b: string | undefined) => a === b
  for (const root of syntax.rootSpellings) {
    if (root.every((name, index) => same(name, spelled[index]))) {
      const rest = spelled.slice(root.length)
      // A trailing separator requires a directory. It stays, so that the walk checks it.
      return components.at(-1) === '' || components.at(-1) === '.' ? [...rest, ''] : rest
    }
  }
  return undefined
}

function checkName(name: string, syntax: PathSyntax, shown: string): void {
  if (
    name.length > fileLimits.maxNameBytes / 3 &&
    Buffer.byteLength(name) > fileLimits.maxNameBytes
  ) {
    throw pathInvalid(
      shown,
      `has a name that is too long: at most ${fileLimits.maxNameBytes} bytes each.`,
    )
  }
  // Node would replace a lone surrogate and act on another name.
  if (loneSurrogate.test(name))
    throw pathInvalid(shown, 'contains half of a Unicode character pair.')
  const refusal = syntax.windows ? checkWindowsName(name) : undefined
  if (refusal !== undefined) throw pathInvalid(shown, refusal)
}
