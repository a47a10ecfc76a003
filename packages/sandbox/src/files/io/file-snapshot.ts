import type { BigIntStats } from 'node:fs'

/** What identifies the contents of a file at a moment, as far as the file system tells. */
export interface FileSnapshot {
  readonly dev: bigint
  readonly ino: bigint
  readonly size: bigint
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
  /**
   * The file was changed so shortly before it was looked at that a further change could carry the same time stamp. Then
   * equal stamps prove nothing and the contents have to be compared.
   */
  readonly isFresh: boolean
}

// Time stamps advance with the kernel's tick (up to 10 ms) on most file systems, and with whole seconds, at worst two, on
// those whose stamps have no fraction.
const freshNs = 50_000_000n
const freshWithoutFractionNs = 2_000_000_000n
const secondNs = 1_000_000_000n

/** `stat` must be from before the contents were read. */
export function takeSnapshot(stat: BigIntStats): FileSnapshot {
  const { dev, ino, size, mtimeNs, ctimeNs } = stat
  const ageNs = BigInt(Date.now()) * 1_000_000n - mtimeNs
  const isFresh = ageNs < (mtimeNs % secondNs === 0n ? freshWithoutFractionNs : freshNs)
  return { dev, ino, size, mtimeNs, ctimeNs, isFresh }
}

/** Whether a file still is what the snapshot says. */
export function isSameFile(snapshot: FileSnapshot, stat: BigIntStats | undefined): boolean {
  return (
    stat !== undefined &&
    stat.dev === snapshot.dev &&
    stat.ino === snapshot.ino &&
    stat.size === snapshot.size &&
    stat.mtimeNs === snapshot.mtimeNs &&
    stat.ctimeNs === snapshot.ctimeNs
  )
}
