import { describe, expect, test } from 'vitest'
import type { EnforcedProperties, IsolationReport } from '../../src/isolation/backend.ts'
import { notEnforcedWarning } from '../../src/isolation/not-enforced-warning.ts'
import { describeIsolations, newSandbox } from '../fixtures/sandboxes.ts'

/** Every combination of what can hold. */
const combinations: readonly EnforcedProperties[] = (['enforced', 'partial', 'none'] as const)
  .flatMap((files) =>
    (['enforced', 'policy-only', 'host'] as const).map((network) => ({ files, network })),
  )
  .flatMap((row) => (['enforced', 'best-effort'] as const).map((kill) => ({ ...row, kill })))
  .flatMap((row) => (['enforced', 'none'] as const).map((syscalls) => ({ ...row, syscalls })))

function reportOf(enforced: EnforcedProperties): IsolationReport {
  const missing = Object.entries(enforced).flatMap(([what, how]) =>
    how === 'enforced' || how === 'host' ? [] : [what as keyof EnforcedProperties],
  )
  return {
    backend: 'none',
    enforced,
    notEnforced: [
      ...missing.map((what) => ({
        what,
        why: `Not ${what}.`,
        fix: 'Install it.',
        ...(enforced[what] === 'partial' ? { code: 'DENIED_NAMES_READABLE' as const } : {}),
      })),
      // By design of a backend, and no reason to warn as long as files are enforced.
      { what: 'files', code: 'METADATA_VISIBLE', why: 'Names can be seen.', fix: 'Another.' },
    ],
    limitations: [],
  }
}

function warningsOf(report: IsolationReport): readonly string[] {
  const warnings: string[] = []
  const warn = notEnforcedWarning(report, (message) => warnings.push(message))
  for (let command = 0; command < 3; command += 1) warn()
  return warnings
}

describe('the warning', () => {
  test.each(combinations)(
    'is one text and names exactly what is missing: files $files, network $network, kill $kill, calls $syscalls',
    (enforced) => {
      const warnings = warningsOf(reportOf(enforced))
      const holds = (how: string): boolean => how === 'enforced' || how === 'host'
      expect(warnings).toHaveLength(Object.values(enforced).every(holds) ? 0 : 1)
      for (const [what, how] of Object.entries(enforced)) {
        for (const warning of warnings) expect(warning.includes(`Not ${what}.`)).toBe(!holds(how))
      }
      for (const warning of warnings) expect(warning.split('Install it.')).toHaveLength(2)
      expect(warnings.join('').includes('Names can be seen.')).toBe(enforced.files === 'none')
    },
  )
})

describeIsolations('a sandbox', (isolation, backend) => {
  test.each(['none', 'host'] as const)(
    'with the network %s warns of what it lacks',
    async (network) => {
      const warnings: string[] = []
      const warn = (message: string) => warnings.push(message)
      const sandbox = await newSandbox({ isolation, network, warn })
      expect(warnings).toEqual([])
      await sandbox.run('true')
      await sandbox.run('true')
      expect(warnings).toHaveLength(backend === 'none' ? 1 : 0)
      for (const warning of warnings) {
        expect(warning).toContain('Files: Commands run with all the rights of the calling user.')
        expect(warning).toContain('Kill: ')
        expect(warning).toContain('System calls: ')
        expect(warning.includes('Network: ')).toBe(network === 'none')
      }
    },
  )

  test('with denied files warns where commands can read them', async () => {
    const warnings: string[] = []
    const warn = (message: string) => warnings.push(message)
    const sandbox = await newSandbox({ isolation, files: { deny: ['.env'] }, warn })
    await sandbox.run('true')
    expect(warnings).toHaveLength(sandbox.report.enforced.files === 'enforced' ? 0 : 1)
    expect(warnings.join('').includes('files.deny')).toBe(
      sandbox.report.enforced.files === 'partial',
    )
  })
})
