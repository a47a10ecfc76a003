/** A root by its name and by the directory that was opened. */
export interface OpenRoot {
  /** Its canonical path when it was opened, to resolve what configurations and links name. */
  readonly rootDir: string
  /**
   * Leads to the directory that was opened, whatever `rootDir` names by now; names below are appended after a slash. Valid
   * in this process while the directory is open. Without descriptors, the same as `rootDir`.
   */
  readonly handle: string
  /** Whether `handle` is only the name, for want of a descriptor. */
  readonly isByName: boolean
}

/** A root of which a descriptor is open, where the platform has a path for it. */
export function openRootAt(rootDir: string, fd: number | undefined): OpenRoot {
  const hasPath = process.platform === 'linux' && fd !== undefined
  const plain = rootDir === '/' ? '' : rootDir
  return { rootDir, handle: hasPath ? `/proc/self/fd/${fd}` : plain, isByName: !hasPath }
}
