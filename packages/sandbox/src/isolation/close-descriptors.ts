import { closeSync } from 'node:fs'

/** Closes descriptors that were opened for a child, once it has its copies or was never spawned. */
export function closeDescriptors(descriptors: readonly number[]): void {
  for (const descriptor of descriptors) closeSync(descriptor)
}
