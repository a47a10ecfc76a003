import { describe, expect, test } from 'vitest'
import type {
  IsolationBackend,
  IsolationBackendName,
  NotEnforced,
  ProbeResult,
} from '../../src/isolation/backend.ts'
import { detectIsolation, type IsolationOption } from '../../src/isolation/detect-isolation.ts'
import { createNoIsolation } from '../../src/isolation/none.ts'

const everything = {
  files: 'enforced',
  network: 'enforced',
  kill: 'enforced',
  syscalls: 'enforced',
} as const
const nothing = {
  files: 'none',
  network: 'policy-only',
  kill: 'best-effort',
  syscalls: 'none',
} as const
const missing: NotEnforced = { what: 'files', why: 'bwrap is not here.', fix: 'Install bwrap.' }

function fake(
  name: IsolationBackendName,
  probed: Partial<ProbeResult>,
): IsolationBackend & { probes: number } {
  return {
    name,
    probes: 0,
    probe() {
      this.probes += 1
      return Promise.resolve({ usable: true, enforced: everything, notEnforced: [], ...probed })
    },
    prepare: () => undefined,
    start() {
      throw new Error('a detected backend starts nothing')
    },
  }
}
const strong = (): ReturnType<typeof fake> => fake('bubblewrap', {})
const broken = (): ReturnType<typeof fake> =>
  fake('bubblewrap', { usable: false, enforced: nothing, notEnforced: [missing] })
const detect = (
  isolation: IsolationOption,
  backends: readonly IsolationBackend[],
  network: 'none' | 'host' = 'none',
) => detectIsolation({ isolation, demands: { network, denies: false, protects: false }, backends })

describe('detectIsolation', () => {
  test("takes the strongest usable backend for 'auto'", async () => {
    const { backend, report } = await detect('auto', [strong(), createNoIsolation()])
    expect(backend.name).toBe('bubblewrap')
    expect(report).toEqual({
      backend: 'bubblewrap',
      enforced: everything,
      notEnforced: [],
      limitations: [],
    })
  })

  test("falls back to none for 'auto', and says for each lost property why and what to do", async () => {
    const { report } = await detect('auto', [broken(), createNoIsolation()])
    expect(report.backend).toBe('none')
    expect(report.enforced).toEqual(nothing)
    expect(report.notEnforced.map(({ what }) => what)).toEqual([
      'files',
      'network',
      'kill',
      'syscalls',
    ])
    for (const { fix } of report.notEnforced) {
      // The obstacle comes with the step that removes it, so that it is said once.
      expect(fix).toBe(`${missing.why} ${missing.fix}`)
    }
  })

  test.each([
    ['require', 'files, network, kill, syscalls'],
    [{ require: ['network', 'kill'] }, 'network, kill'],
    [{ require: ['files'], backend: 'bubblewrap' }, 'files'],
  ] as [IsolationOption, string][])(
    'refuses %j where it is not enforced, naming what and the remedy',
    async (isolation, what) => {
      await expect(detect(isolation, [broken(), createNoIsolation()])).rejects.toMatchObject({
        code: 'TOOL_ISOLATION_UNAVAILABLE',
        effect: 'none',
        message: expect.stringMatching(
          new RegExp(`: ${what}\\. .*bwrap is not here\\. Install bwrap\\.`),
        ),
        details: { missing: what.split(', ') },
      })
    },
  )

  test('grants what is required where it is enforced', async () => {
    for (const isolation of ['require', { require: ['files', 'kill'] }] as IsolationOption[]) {
      expect((await detect(isolation, [strong()])).backend.name).toBe('bubblewrap')
    }
  })

  test('uses none only when told so, and probes nothing else then', async () => {
    const backend = strong()
    const { report } = await detect('none', [backend, createNoIsolation()])
    expect([report.backend, backend.probes]).toEqual(['none', 0])
    expect(report.notEnforced[0]?.fix).toContain("isolation: 'none' was asked for")
  })

  test('reports a network that was asked for as such, and not as a fault', async () => {
    const { report } = await detect('require', [strong()], 'host')
    expect(report.enforced.network).toBe('host')
    const open = await detect('auto', [createNoIsolation()], 'host')
    expect(open.report.notEnforced.map(({ what }) => what)).not.toContain('network')
  })

  test('probes a backend once per user', async () => {
    const backend = strong()
    await Promise.all([detect('auto', [backend]), detect('require', [backend])])
    await detect('auto', [backend])
    expect(backend.probes).toBe(1)
  })

  test.each([
    ['maybe'],
    [{ require: ['speed'] }],
    [{ require: 'files' }],
    [{ require: [], backend: 'docker' }],
    [null],
    [7],
  ])('refuses the option %j', async (isolation) => {
    await expect(detect(isolation as never, [strong()])).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining("'auto', 'require', 'none'"),
    })
  })
})
