/** Every limit of the file guard, with its reason. */
export const fileLimits = {
  /** Symbolic links expanded in one path: the number at which Linux itself gives up. */
  maxLinksInPath: 40,
  /** Bytes of a path: PATH_MAX of Linux, so nothing that the kernel would take is refused. */
  maxPathBytes: 4096,
  /** Bytes of one name: NAME_MAX of every common file system. */
  maxNameBytes: 255,
  /** How often one path may meet a component that changed its kind while it was looked at, before giving up. */
  maxChangesInPath: 4096,
  /** Walks of one path on a platform that can only notice an exchange and start over. */
  maxWalks: 16,
  /**
   * Up to this many bytes are read and written by system calls on the calling thread: out of the page cache that costs
   * less than handing the work to the thread pool. Above it the pool takes over, so that one call cannot hold up the
   * event loop for longer than a quarter of a millisecond of copying.
   */
  maxSynchronousBytes: 262_144,
  /** Bytes moved at once on the asynchronous path. */
  chunkBytes: 1_048_576,
  /** Bytes looked at at once for lines of a large file. */
  lineChunkBytes: 65_536,
  /** Bytes that `read` returns unless told otherwise: what fits in memory without surprise. */
  defaultMaxReadBytes: 67_108_864,
  /** Synchronous work in one turn of the event loop before further calls wait for the next turn. */
  maxTurnMs: 8,
  /** Calls that may hold descriptors across turns at once; the others wait with none. */
  maxOpenCalls: 64,
  /** Directories on the way down that walking a tree holds open at once; deeper is an error. */
  maxWalkDepth: 512,
  /** Directories that removing a tree holds open at once; what is deeper is moved up first. */
  maxOpenDepth: 128,
  /** Looks at the top of a tree being removed, before others who keep creating entries there win. */
  maxRemoveRounds: 10_000,
  /** Entries that are looked at to find a denied one below a directory that is to be moved or removed. */
  maxPolicyScan: 200_000,
  /** Tries to find an unused temporary name. */
  maxTemporaryNames: 16,
  /** How long a directory that was searched for leftovers of killed writers is not searched again. */
  sweepIntervalMs: 600_000,
  /** Names of a directory that are looked at for leftovers: more would hold up the write. */
  maxSweptNames: 2000,
  /** Directories of which it is remembered when they were searched. */
  maxSweptDirectories: 4096,
} as const
