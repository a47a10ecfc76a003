import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { createLandlock } from '../../../src/isolation/confine/landlock.ts'
import { detectIsolation } from '../../../src/isolation/detect-isolation.ts'
import { createNoIsolation } from '../../../src/isolation/none.ts'
import { describeConfined } from '../../fixtures/confinement.ts'

/** Tries what Landlock learned to refuse version by version, and prints what worked. */
const program = `
import ctypes, os, signal, socket, sys
outside, victim = sys.argv[1], int(sys.argv[2])
libc = ctypes.CDLL(None, use_errno=True)
worked = []
def attempt(name, action):
    try:
        if action() not in (-1,): worked.append(name)
    except OSError: pass
attempt("write", lambda: open(outside + "/file", "a").close())
attempt("truncate", lambda: os.truncate(outside + "/file", 0))
attempt("open to truncate", lambda: os.close(os.open(outside + "/file", os.O_RDONLY | os.O_TRUNC)))
attempt("mode", lambda: os.chmod(outside + "/file", 0o777))
attempt("rename out", lambda: os.rename("mine", outside + "/taken"))
attempt("link out", lambda: os.link("mine", outside + "/taken"))
attempt("link in", lambda: os.link(outside + "/file", "taken"))
attempt("signal", lambda: os.kill(victim, 0))
attempt("abstract socket", lambda: socket.socket(socket.AF_UNIX).connect("\\0" + outside))
attempt("tcp", lambda: socket.socket().bind(("127.0.0.1", 0)))
attempt("terminal", lambda: os.close(os.open("/dev/ptmx", os.O_RDWR)))
print(" ".join(worked))
`

/** What honest commands do in their root, on every version. */
const honest =
  'mkdir -p a b; echo x > a/f; mv a/f b/f; cat b/f; truncate -s 0 b/f; chmod 640 b/f; stat -c %a:%s b/f; sleep 9 & kill $!'

describeConfined(
  'a Landlock that is older than this kernel',
  (confinement) => {
    const versions = [1, 2, 3, 4, 5, 6, 7]
    test.each(versions)('lets nothing out as version %i', async (versionCeiling) => {
      const [root, outside] = [confinement.directory(), confinement.directory()]
      writeFileSync(join(outside, 'file'), 'untouched')
      writeFileSync(join(root, 'mine'), '')
      const mode = statSync(join(outside, 'file')).mode
      const argv = ['/usr/bin/python3', '-c', program, outside, String(process.pid)] as const
      const { stdout, stderr } = await confinement.run(root, argv, { landlock: { versionCeiling } })
      expect([stdout, stderr]).toEqual(['\n', ''])
      expect(readFileSync(join(outside, 'file'), 'utf8')).toBe('untouched')
      expect(statSync(join(outside, 'file')).mode).toBe(mode)
    })

    test.each(versions)('leaves honest work alone as version %i', async (versionCeiling) => {
      const { stdout, stderr } = await confinement.run(
        confinement.directory(),
        ['sh', '-c', honest],
        { landlock: { versionCeiling } },
      )
      expect([stdout, stderr]).toEqual(['x\n640:0\n', ''])
    })

    test('is the only thing that stops it: nothing does without isolation', async () => {
      const [root, outside] = [confinement.directory(), confinement.directory()]
      const script = 'echo old > "$1/file"; echo > mine; exec /usr/bin/python3 -c "$2" "$1" "$$"'
      const argv = ['sh', '-c', script, 'sh', outside, program] as const
      const { stdout } = await confinement.runFreely(root, argv)
      for (const name of ['write', 'truncate', 'open to truncate', 'mode', 'signal', 'tcp']) {
        expect(stdout).toContain(name)
      }
    })
  },
  ['landlock'],
)

const demands = { network: 'none', denies: false, protects: false } as const
const rootDir = mkdtempSync(join(tmpdir(), 'smithers-versions-'))
afterAll(() => rmSync(rootDir, { recursive: true, force: true }))

describe.skipIf(process.platform !== 'linux')('the probe of Landlock', () => {
  test('says that a kernel without Landlock cannot be used, and why', async () => {
    const { usable, notEnforced, enforced } = await createLandlock({ versionCeiling: 0 }).probe()
    expect(usable).toBe(false)
    expect(enforced).toMatchObject({ files: 'none', network: 'policy-only' })
    expect(notEnforced.map(({ why }) => why)).toEqual([
      'The kernel has no Landlock, or its "lsm=" setting leaves it out.',
    ])
  })

  test('makes a requirement fail with that reason', async () => {
    const backends = [createLandlock({ versionCeiling: 0 }), createNoIsolation()]
    await expect(
      detectIsolation({ isolation: 'require', demands, backends }),
    ).rejects.toMatchObject({
      code: 'TOOL_ISOLATION_UNAVAILABLE',
      message: expect.stringContaining('Use Linux 5.13 or newer with Landlock enabled.'),
    })
  })

  test('reports what is lost where calls cannot be judged, and requirements follow', async ({
    skip,
  }) => {
    const backends = [createLandlock({ vets: false }), createNoIsolation()]
    const { backend, report } = await detectIsolation({ isolation: 'auto', demands, backends })
    skip(backend.name === 'none', 'Landlock does not work on this machine')
    expect(report.enforced).toMatchObject({ files: 'partial', network: 'enforced' })
    expect(report.notEnforced.map(({ code }) => code)).toContain('METADATA_CHANGEABLE')
    await expect(
      detectIsolation({ isolation: { require: ['files'] }, demands, backends }),
    ).rejects.toMatchObject({ code: 'TOOL_ISOLATION_UNAVAILABLE' })
  })

  test('says of version 1 that files do not move between directories', async ({ skip }) => {
    const backends = [createLandlock({ versionCeiling: 1 }), createNoIsolation()]
    const { backend, report } = await detectIsolation({ isolation: 'auto', demands, backends })
    skip(backend.name === 'none', 'Landlock does not work on this machine')
    expect(report.limitations.map(({ code }) => code)).toContain('NO_MOVES_BETWEEN_DIRECTORIES')
  })
})
