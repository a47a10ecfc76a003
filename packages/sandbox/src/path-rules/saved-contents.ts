import { constants, readlinkSync } from 'node:fs'
import { inParent } from './in-parent.ts'
import type { PathSnapshot, PathState } from './path-snapshot.ts'
import { readFileHead } from './read-file-head.ts'

/** The content of a file or the target of a link, to compare and to put back. */
export interface SavedContent {
  readonly kind: 'file' | 'link'
  readonly bytes: Buffer
  readonly mode: number
}

/** Larger files, and files beyond the total, are compared but cannot be put back. */
const maxFileBytes = 4 * 1024 * 1024
const maxTotalBytes = 32 * 1024 * 1024

/** Reads a path without following links; `undefined` when it is too large, another kind, or cannot be read. */
export function readContent(
  rootDir: string,
  path: string,
  state: PathState,
): SavedContent | undefined {
  if (state.size > maxFileBytes) return undefined
  try {
    if (state.kind === 'link') {
      const bytes = inParent(rootDir, path, (name) => readlinkSync(name, 'buffer'))
      return { kind: 'link', bytes, mode: 0o777 }
    }
    if (state.kind !== 'file') return undefined
    const bytes = inParent(rootDir, path, (name) => readFileHead(name, maxFileBytes + 1))
    if (bytes === undefined || bytes.length > maxFileBytes) return undefined
    return { kind: 'file', bytes, mode: state.mode & permissionBits }
  } catch {
    return undefined
  }
}

const permissionBits =
  (constants.S_IRWXU ?? 0) | (constants.S_IRWXG ?? 0) | (constants.S_IRWXO ?? 0)

/** The contents of a snapshot; files that did not change since the last one are not read again. */
export class SavedContents {
  readonly #rootDir: string
  #saved: ReadonlyMap<string, { readonly stamp: string; readonly content: SavedContent }> =
    new Map()

  constructor(rootDir: string) {
    this.#rootDir = rootDir
  }

  save(snapshot: PathSnapshot): ReadonlyMap<string, SavedContent> {
    const saved = new Map<string, { stamp: string; content: SavedContent }>()
    const contents = new Map<string, SavedContent>()
    let left = maxTotalBytes
    for (const [path, state] of snapshot) {
      if (state.kind !== 'file' && state.kind !== 'link') continue
      if (state.size > left) continue
      const known = this.#saved.get(path)
      const content =
        known?.stamp === state.stamp ? known.content : readContent(this.#rootDir, path, state)
      if (content === undefined) continue
      left -= content.bytes.length
      saved.set(path, { stamp: state.stamp, content })
      contents.set(path, content)
    }
    this.#saved = saved
    return contents
  }
}
