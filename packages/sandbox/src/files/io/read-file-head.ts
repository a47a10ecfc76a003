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
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) return undefined
    // A caller may keep the contents of thousands of small files, and with each the whole of its memory.
    let bytes: Buffer = Buffer.allocUnsafeSlow(
      Math.min(maxBytes, Math.max(stats.size + 1, smallest)),
    )
    let length = 0
    for (;;) {
      const count = readSync(descriptor, bytes, length, bytes.length - length, null)
      length += count
      if (count === 0 || length === maxBytes) return bytes.subarray(0, length)
      // It has grown, or says nothing of its size, as files of /proc do.
      if (length === bytes.length) bytes = grown(bytes, maxBytes)
    }
  } finally {
    closeSync(descriptor)
  }
}

const smallest = 256

function grown(bytes: Buffer, maxBytes: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(Math.min(maxBytes, bytes.length * 2))
  bytes.copy(larger)
  return larger
}
