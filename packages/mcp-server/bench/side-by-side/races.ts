import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type Arena, secret } from './arena.ts'
import type { Side } from './servers.ts'

const swapper = join(import.meta.dirname, '../../../sandbox/test/fixtures/programs/swap-paths.py')

/** Operations on a name whose directory is exchanged all the while; returns how many got out. */
export async function raceOut(
  kind: 'read' | 'write',
  side: Side,
  arena: Arena,
  operations: number,
): Promise<number> {
  const attacker = spawn('python3', [swapper, ...arena.pair], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(attacker.stdout, 'data')
  let escaped = 0
  try {
    for (let index = 0; index < operations; index += 1) {
      if (kind === 'read') {
        const read = await side.read('raced/file.txt').catch(() => '')
        if (read.includes(secret)) escaped += 1
      } else {
        await side.write('raced/written.txt', 'overwritten').catch(() => '')
        if (arena.wasChanged()) escaped += 1
      }
    }
  } finally {
    const ended = once(attacker, 'exit')
    attacker.kill('SIGKILL')
    await ended
  }
  return escaped
}
