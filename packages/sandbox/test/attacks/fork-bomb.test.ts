import { expect, test } from 'vitest'
import { declareIf, describeConfined } from '../fixtures/confinement.ts'

/** Starts processes until it is refused, or has started the number it is given: a failing limit harms nothing. */
const processes = `import os, sys, time
started = 0
try:
    for _ in range(int(sys.argv[1])):
        if os.fork() == 0:
            time.sleep(600)
            os._exit(0)
        started += 1
except OSError: pass
print(started)`

/** The same with threads, which count as processes and take less. */
const threads = `import sys, threading
threading.stack_size(65536)
done = threading.Event()
started = 0
try:
    for _ in range(int(sys.argv[1])):
        threading.Thread(target=done.wait, daemon=True).start()
        started += 1
except RuntimeError: pass
print(started)
done.set()`

describeConfined(
  'a command that starts processes without end',
  (confinement) => {
    const start = async (program: string, count: number, limits: object): Promise<number> => {
      const rootDir = confinement.directory()
      const command = ['python3', '-c', program, String(count)]
      // Thousands of threads take their time on a loaded machine.
      const bounds = { timeoutMs: 200_000, ...limits }
      const [result] = await confinement.commands({ rootDir, limits: bounds }, [command])
      expect(result).toMatchObject({ status: 'exited' })
      return Number(result?.output)
    }

    test('is stopped at its limit', async () => {
      const started = await start(processes, 200, { processes: 40 })
      expect(started).toBeGreaterThan(10)
      expect(started).toBeLessThan(40)
      // The control: without the limit it starts them all.
      expect(await start(processes, 200, {})).toBe(200)
    })

    // Only the helper counts, and only the processes of ordinary users.
    declareIf(confinement.backend === 'namespaces' && confinement.user !== 'root', () => {
      test('is stopped at the default where it has one, far above honest work', async () => {
        const started = await start(threads, 6_000, {})
        expect(started).toBeGreaterThan(3_900)
        expect(started).toBeLessThan(4_096)
        expect(await start(threads, 6_000, { processes: 10_000 })).toBe(6_000)
      })
    })
  },
  ['namespaces', 'bubblewrap'],
)
