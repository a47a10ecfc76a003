import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { createBubblewrap } from '../../src/isolation/bubblewrap/backend.ts'
import { describeConfined } from '../fixtures/confinement.ts'

const policy = {
  network: 'none',
  read: [],
  protect: [],
  deny: [],
  limits: { temporaryMb: 1 },
} as const

describeConfined('the environment of a command', (confinement) => {
  test('loads no library into the confining program', async ({ skip }) => {
    const project = confinement.directory()
    chmodSync(project, 0o777)
    const root = join(project, 'root')
    mkdirSync(root)
    chmodSync(root, 0o777)
    const [library, proof] = [join(root, 'evil.so'), join(project, 'loaded-outside')]
    writeFileSync(
      join(root, 'evil.c'),
      `#include <stdio.h>\n__attribute__((constructor)) void run(void) { FILE *f = fopen("${proof}", "w"); if (f) fclose(f); }\n`,
    )
    const compiled = spawnSync('gcc', ['-shared', '-fPIC', '-o', library, join(root, 'evil.c')])
    skip(compiled.status !== 0, 'no C compiler here')

    await confinement.run(root, ['true'], { env: { LD_PRELOAD: library } })
    expect(existsSync(proof)).toBe(false)
    await confinement.runFreely(root, ['true'], { env: { LD_PRELOAD: library } })
    expect(existsSync(proof)).toBe(true)
  })
})

describeConfined(
  'the environment of a command',
  (confinement) => {
    test('adds no mount by a NUL character in a value', () => {
      const backend = createBubblewrap()
      const injected = 'x\0--bind\0/\0/tmp'
      for (const env of [{ X: injected }, { [injected]: 'x' }]) {
        const request = { argv: ['true'], cwd: '/tmp', rootDir: '/tmp', policy, env } as const
        expect(() => backend.wrap(request)).toThrow(
          expect.objectContaining({ code: 'INVALID_INPUT' }),
        )
      }
    })

    test('appears on no command line that other users can list', async () => {
      const value = `value-${process.pid}-${Math.random()}`
      const root = confinement.directory()
      // A name that no other command line of this machine has.
      const goOn = `go-on-${basename(root)}`
      const script = `echo "\${#TOKEN}"; while [ ! -e ${goOn} ]; do sleep 0.05; done`
      const running = confinement.run(root, ['sh', '-c', script], { env: { TOKEN: value } })
      let confining: string[] = []
      await expect
        .poll(() => {
          confining = commandLines().filter(
            (line) => line.startsWith('/usr/bin/bwrap') && line.includes(goOn),
          )
          return confining.length
        })
        .toBeGreaterThan(0)
      writeFileSync(join(root, goOn), '')
      expect((await running).stdout).toBe(`${value.length}\n`)
      expect(confining.filter((line) => line.includes(value))).toEqual([])
    })
  },
  ['bubblewrap'],
)

function commandLines(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1')
      } catch {
        return ''
      }
    })
}
