import type { SavedContent } from '../../path-rules/path-snapshot.ts'
import type { RunSettings } from '../run-settings.ts'
import { isCleanMerge } from './clean-merge.ts'
import { findInTree, type GitObject, ObjectReader, objectName, readCommit } from './git-objects.ts'
import { runGit } from './run-git.ts'

/** Commits that are searched for a version. */
const maxCommits = 5_000

/** Commits asked for at once. */
const batch = 64

/** One version of a file: `100644 HASH`, as a tree has it. */
type Version = string

/**
 * Versions of files that some commits reach.
 *
 * *Guarantees*: every commit, tree and file is checked against its name, from the tips that were recorded when the sandbox
 * was opened; commits, refs and objects that were added or exchanged since prove nothing.
 */
export class GitHistory {
  readonly #tips: readonly string[]
  readonly #accepted = new Map<string, Map<Version, Buffer>>()

  constructor(tips: readonly string[]) {
    this.#tips = tips
  }

  /** Whether a content of a path is one of its versions, or a clean merge of three of them. */
  async isKnownVersion(
    settings: RunSettings,
    path: string,
    content: SavedContent,
  ): Promise<boolean> {
    const [tip] = this.#tips
    if (tip === undefined) return false
    const version = versionOf(content, tip.length)
    if (this.#accepted.get(path)?.has(version) === true) return true
    const versions = await this.#search(settings, path, version)
    const isKnown =
      versions.has(version) ||
      (content.kind === 'file' &&
        (await isCleanMerge(settings, content.bytes, [
          ...[...versions.values()].filter((bytes) => bytes !== undefined),
          ...(this.#accepted.get(path)?.values() ?? []),
        ])))
    if (isKnown) {
      const accepted = this.#accepted.get(path) ?? new Map<Version, Buffer>()
      this.#accepted.set(path, accepted.set(version, content.bytes))
    }
    return isKnown
  }

  /** The versions of a path, newest first, until the wanted one is found. */
  async #search(
    settings: RunSettings,
    path: string,
    wanted: Version,
  ): Promise<ReadonlyMap<Version, Buffer | undefined>> {
    const reader = new ObjectReader()
    const running = runGit(settings, {
      argv: ['git', 'cat-file', '--batch'],
      stdin: reader.input(),
      onOutput: (bytes) => reader.receive(bytes),
    }).finally(() => reader.close())
    try {
      return await findVersions(reader, this.#tips, path.split('/'), wanted)
    } finally {
      reader.close()
      await running
    }
  }
}

function versionOf({ kind, bytes, mode }: SavedContent, nameLength: number): Version {
  const name = objectName({ type: 'blob', bytes }, nameLength)
  if (kind === 'link') return `120000 ${name}`
  return `${(mode & 0o100) === 0 ? '100644' : '100755'} ${name}`
}

async function findVersions(
  reader: ObjectReader,
  tips: readonly string[],
  components: readonly string[],
  wanted: Version,
): Promise<ReadonlyMap<Version, Buffer | undefined>> {
  const versions = new Map<Version, Buffer | undefined>()
  const seen = new Set<string>(tips)
  const trees = new Set<string>()
  let pending: string[] = [...tips]
  const visit = async (name: string): Promise<void> => {
    const commit = await readTarget(reader, name)
    if (commit === undefined) return
    for (const parent of commit.parents) {
      if (seen.has(parent)) continue
      seen.add(parent)
      pending.push(parent)
    }
    if (trees.has(commit.tree)) return
    trees.add(commit.tree)
    const entry = await findEntry(reader, commit.tree, components)
    if (entry === undefined || versions.has(entry.version)) return
    // In order of their discovery, before the content is there.
    versions.set(entry.version, undefined)
    versions.set(entry.version, (await reader.read(entry.name))?.bytes)
  }
  for (let visited = 0; pending.length > 0 && visited < maxCommits; visited += batch) {
    const next = pending.slice(0, batch)
    pending = pending.slice(batch)
    await Promise.all(next.map(visit))
    if (versions.has(wanted)) break
  }
  return versions
}

/** A commit, also by the name of a tag of it. */
async function readTarget(
  reader: ObjectReader,
  name: string,
): Promise<ReturnType<typeof readCommit>> {
  let object: GitObject | undefined = await reader.read(name)
  if (object?.type === 'tag') {
    const target = /^object ([0-9a-f]+)$/mu.exec(object.bytes.toString('latin1'))?.[1]
    object = target === undefined ? undefined : await reader.read(target)
  }
  return object === undefined ? undefined : readCommit(object)
}

async function findEntry(
  reader: ObjectReader,
  tree: string,
  components: readonly string[],
): Promise<{ version: Version; name: string } | undefined> {
  let at = { mode: '40000', name: tree }
  for (const component of components) {
    if (at.mode !== '40000') return undefined
    const object = await reader.read(at.name)
    const entry = object === undefined ? undefined : findInTree(object, component, tree.length)
    if (entry === undefined) return undefined
    at = entry
  }
  return { version: `${at.mode} ${at.name}`, name: at.name }
}
