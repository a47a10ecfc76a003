import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'

/**
 * The first bytes of a regular file, or `undefined` when it is anything else. For names that a command can
 * exchange at any moment: a pipe does not make it wait, a link is not followed, and however large the file is, no more
 * than `maxBytes` are read.
 *
 * @throws the system's error when nothing can be opened there
 */
export function readFileHead(path: string, maxBytes: number): Buffer | undefined {
  const flags =
    (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0)
  const descriptor = openSync(path, constants.O_RDONLY | flags)
  try {
    // Of what was opened; the name may lead elsewhere by now.
    if (!fstatSync(descriptor).isFile()) return undefined
    const bytes = Buffer.alloc(maxBytes)
    let length = 0
    while (length < maxBytes) {
      const count = readSync(descriptor, bytes, length, maxBytes - length, null)
      if (count === 0) break
      length += count
    }
    return bytes.subarray(0, length)
  } finally {
    closeSync(descriptor)
  }
}
