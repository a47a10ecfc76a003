import type * as WorkerPackage from '@smithers/worker'

/** `@smithers/worker`, an optional peer. Undefined where it, or a package that it needs, is not installed. */
export async function workerPackage(): Promise<typeof WorkerPackage | undefined> {
  try {
    return await import('@smithers/worker')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    return undefined
  }
}
