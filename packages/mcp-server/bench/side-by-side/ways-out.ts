import { type Arena, secret } from './arena.ts'
import type { Side } from './servers.ts'

const paths = [
  '../outside/file.txt',
  'link/file.txt',
  'file-link',
  'raced/../../outside/file.txt',
  'link/../outside/file.txt',
  '../root/../outside/file.txt',
  'dangling',
  'link/new.txt',
]

/** Reads and writes by every way out; an escape is a secret that was read or a file outside that changed. */
export async function tryWaysOut(
  side: Side,
  arena: Arena,
): Promise<{ readonly tried: number; readonly escaped: number }> {
  let escaped = 0
  for (const path of paths) {
    const read = await side.read(path).catch(() => '')
    if (read.includes(secret)) escaped += 1
    await side.write(path, 'overwritten').catch(() => '')
    if (arena.wasChanged()) escaped += 1
  }
  return { tried: paths.length * 2, escaped }
}
