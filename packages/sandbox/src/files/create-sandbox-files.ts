import { readOptions } from '../options/read-options.ts'
import { SandboxError } from '../errors/sandbox-error.ts'
import { sandboxFilesOptions } from './files-options.ts'
import { fileNotFound, toFileError } from './file-error.ts'
import { configuredGitPaths } from './configured-git-paths.ts'
import { openRootAt } from './open-root.ts'
import { canonicalDirectory, openFileGuard, type FileGuard } from './guard/file-guard.ts'
import { fileLimits } from './file-limits.ts'
import { openFile, readContent } from './operations/open-and-read.ts'
import { updateContent } from './operations/update.ts'
import { checkWriting, writeContent } from './operations/write.ts'
import { selectLines, wholeLines } from './io/line-range.ts'
import { methodOptions } from './method-options.ts'
import { resolveProtectedNames } from './protected-names.ts'
import { copyBytes, fileTooLarge } from './io/read-file.ts'
import { createSemaphore } from './io/semaphore.ts'
import { decodeText, encodeText } from './io/text-encoding.ts'
import { changeMode, makeDirectory, removeEntry, renameEntry } from './operations/change-tree.ts'
import {
  listDirectory,
  openDirectory,
  statPath,
  walkDirectory,
} from './operations/stat-and-list.ts'
import type { SandboxFiles, SandboxFilesOptions } from './sandbox-files.ts'

/** Gives {@link checkFileWriting} the guard behind the public methods. */
const guards = new WeakMap<SandboxFiles, FileGuard>()

/**
 * Throws the error with which `files.write` would refuse a path. Changes nothing.
 *
 * @throws SandboxError as `write`
 */
export function checkFileWriting(files: SandboxFiles, path: string): void {
  const guard = guards.get(files)
  if (guard !== undefined) checkWriting(guard, path)
}

/**
 * Opens a directory as the root of confined file operations. On Linux, no operation acts on anything outside it, even
 * while another process renames directories and links as fast as it can.
 *
 * @throws `INVALID_INPUT` when the root is not a directory.
 * @throws `TOOL_ISOLATION_UNAVAILABLE` for `guard: 'beneath'` where that is impossible.
 */
// oxlint-disable-next-line max-lines-per-function -- a factory: it only returns methods
export function createSandboxFiles(options: SandboxFilesOptions): SandboxFiles {
  const settings = resolveOptions(options)
  const { durability } = settings
  const guard = openFileGuard(settings)
  const slots = createSemaphore(fileLimits.maxOpenCalls)
  const readLimit = fileLimits.defaultMaxReadBytes

  const update: SandboxFiles['update'] = async (path, change, given) => {
    const choice = methodOptions('update', given)
    await updateContent(guard, slots, {
      path,
      change,
      maxBytes: choice.maxBytes ?? readLimit,
      durability: choice.durability ?? durability,
    })
  }

  const files = Object.freeze<SandboxFiles>({
    rootDir: guard.rootDir,
    guard: guard.tree.guard,
    async read(path, given) {
      const { maxBytes = readLimit } = methodOptions('read', given)
      return readContent(guard, slots, { path, maxBytes, convert: copyBytes })
    },
    async readText(path, given) {
      const { maxBytes = readLimit } = methodOptions('read', given)
      const convert = (bytes: Buffer): string => decodeText(bytes, path)
      return readContent(guard, slots, { path, maxBytes, convert })
    },
    readLines: (path, given) =>
      guard.run(path, async () => {
        const { cut = false, ...range } = methodOptions('readLines', given)
        const file = openFile(guard, path, {})
        try {
          const maxBytes = range.maxBytes ?? readLimit
          const selection = await selectLines(file.fd, file.sizeBytes, { ...range, maxBytes })
          const { totalBytes, totalLines } = selection
          const bytes =
            totalBytes <= maxBytes ? selection.bytes : cut && wholeLines(selection, maxBytes)
          if (bytes === false) throw fileTooLarge(path, totalBytes, maxBytes)
          return {
            text: decodeText(bytes, path),
            totalLines: totalBytes <= maxBytes ? totalLines : undefined,
          }
        } finally {
          file.close()
        }
      }),
    async write(path, content, given) {
      const choice = methodOptions('write', given)
      await writeContent(guard, slots, {
        path,
        content,
        durability: choice.durability ?? durability,
        exclusive: choice.create ?? false,
      })
    },
    update,
    updateText: (path, change, given) =>
      update(
        path,
        (bytes) => {
          const text = change(decodeText(bytes, path))
          return text === undefined ? undefined : encodeText(text, bytes)
        },
        given,
      ),
    open: (path, given) =>
      guard.run(path, () => openFile(guard, path, methodOptions('open', given))),
    mkdir: (path) => guard.run(path, () => makeDirectory(guard, path)),
    rename: (from, to) => guard.run(from, () => renameEntry(guard, from, to)),
    async remove(path, given) {
      const { recursive = false } = methodOptions('remove', given)
      const steps = removeEntry(guard, path, recursive)
      const release = guard.retain(() => steps.return(false))
      try {
        for (;;) {
          const step = await guard.run(path, () => someSteps(steps))
          if (step.done === true) return step.value
        }
      } finally {
        release()
      }
    },
    chmod: (path, mode) => guard.run(path, () => changeMode(guard, path, mode)),
    list: (path = '.') => guard.run(path, () => listDirectory(guard, path)),
    async *walk(path = '.') {
      const entries = walkDirectory(guard, path)
      const release = guard.retain(() => entries.return())
      try {
        for (;;) {
          const step = await guard.run(path, () => entries.next())
          if (step.done === true) return
          yield step.value
        }
      } finally {
        entries.return()
        release()
      }
    },
    stat: (path, given) =>
      guard.run(path, () => {
        const { followLink = true } = methodOptions('stat', given)
        const stat = statPath(guard, path, followLink ? 'follow' : 'keep')
        if (stat === undefined) throw fileNotFound(path)
        return stat
      }),
    exists: (path) =>
      guard.run(path, () => {
        try {
          return statPath(guard, path, 'follow') !== undefined
        } catch (error) {
          const failure = toFileError(error, path)
          if (isAbsent(failure)) return false
          throw failure
        }
      }),
    isDenied: (relativePath) => guard.policy.denied(relativePath) !== undefined,
    openDirectory(path = '.') {
      try {
        return openDirectory(guard, path)
      } catch (error) {
        throw toFileError(error, path)
      }
    },
    isCurrent: () => guard.isCurrent(),
    close: () => guard.close(),
    [Symbol.dispose]: () => guard.close(),
  })
  guards.set(files, guard)
  return files
}

/** A directory of the path is missing, or is a file. */
function isAbsent(failure: unknown): boolean {
  if (!SandboxError.isInstance(failure)) return false
  return failure.code === 'TOOL_FILE_NOT_FOUND' || failure.details['errno'] === 'ENOTDIR'
}

function someSteps<T>(steps: Iterator<void, T, void>): IteratorResult<void, T> {
  for (let count = 0; count < 64; count += 1) {
    const step = steps.next()
    if (step.done === true) return step
  }
  return { done: false, value: undefined }
}

function resolveOptions(given: SandboxFilesOptions) {
  const {
    rootDir,
    deny = [],
    protect = 'default',
    maxLinks = 1,
    durability = 'fsync',
    guard = 'auto',
  } = readOptions(given, sandboxFilesOptions)
  const names = resolveProtectedNames(protect)
  const isAboutGit = names.some((name) => name.startsWith('.git/'))
  const repository = { git: '.git', worktree: '' }
  const configured = isAboutGit
    ? configuredGitPaths(openRootAt(canonicalDirectory(rootDir), undefined), repository)
    : []
  const protectedNames = [...names, ...configured]
  return Object.freeze({ rootDir, deny, protectedNames, maxLinks, durability, guard })
}
