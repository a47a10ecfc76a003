import type { BigIntStats } from 'node:fs'

/** Identifies the contents of a file at one moment, as precisely as the file system can. */
export interface FileSnapshot {
  readonly dev: bigint
  readonly ino: bigint
  readonly size: bigint
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
  /*   * The file changed so recently that another change could have the same time stamp. Equal stamps then prove nothing, and
   * the contents must be compared.
   */
  readonly isFresh: boolean
}

// On most file systems time stamps advance with the kernel's tick (up to 10 ms); where they have no fraction, by up to
// two seconds.
const freshNs = 50_000_000n
const freshWithoutFractionNs = 2_000_000_000n
const secondNs = 1_000_000_000n

/** Takes `stat` from before the contents were read. */
export function takeSnapshot(stat: BigIntStats): FileSnapshot {
  const { dev, ino, size, mtimeNs, ctimeNs } = stat
  const ageNs = BigInt(Date.now()) * 1_000_000n - mtimeNs
  const isFresh = ageNs < (mtimeNs % secondNs === 0n ? freshWithoutFractionNs : freshNs)
  return { dev, ino, size, mtimeNs, ctimeNs, isFresh }
}

/** Whether a file still matches its snapshot. */
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
