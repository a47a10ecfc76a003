/** Every limit of the file guard, with its reason. */
export const fileLimits = {
  /** Symbolic links expanded in one path: the limit of Linux itself. */
  maxLinksInPath: 40,
  /** Bytes of a path: PATH_MAX of Linux. */
  maxPathBytes: 4096,
  /** Bytes of one name: NAME_MAX of every common file system. */
  maxNameBytes: 255,
  /** Retries for one path whose components change while it is being resolved. */
  maxChangesInPath: 4096,
  /** Walks of one path on platforms that can only detect an exchanged directory and start over. */
  maxWalks: 16,
  /*   * Files up to this size are read and written on the calling thread, which costs less than the thread pool while the
   * page cache serves them. Larger ones go through the pool, so that copying never blocks the event loop for more than
   * about a quarter of a millisecond.
   */
  maxSynchronousBytes: 262_144,
  /** Bytes per call of the thread pool. */
  chunkBytes: 1_048_576,
  /** Bytes per step when searching a large file for lines. */
  lineChunkBytes: 65_536,
  /** Default of `maxBytes`. */
  defaultMaxReadBytes: 67_108_864,
  /** Milliseconds of synchronous work per turn of the event loop; further calls wait for the next turn. */
  maxTurnMs: 8,
  /** Milliseconds to wait for a file that another process is changing: a write of the largest file takes less. */
  maxLockWaitMs: 15_000,
  /** Milliseconds between two looks at a lock of another process. */
  maxLockPauseMs: 4,
  /** Calls that may keep descriptors open across turns; others wait without any. */
  maxOpenCalls: 64,
  /** Depth of a tree walk, which keeps one directory open per level; a deeper tree is an error. */
  maxWalkDepth: 512,
  /** Directories open at once while removing a tree; deeper ones are moved up first. */
  maxOpenDepth: 128,
  /** Passes over the top of a tree being removed while other processes keep adding entries. */
  maxRemoveRounds: 10_000,
  /** Entries searched for a denied one before a directory is moved or removed. */
  maxPolicyScan: 200_000,
  /** Attempts to find an unused temporary name. */
  maxTemporaryNames: 16,
  /** Milliseconds until a directory is searched again for files of killed writers. */
  sweepIntervalMs: 600_000,
  /** Names per directory checked for leftovers: more would delay the write. */
  maxSweptNames: 2000,
  /** Directories whose last search is remembered. */
  maxSweptDirectories: 4096,
} as const
