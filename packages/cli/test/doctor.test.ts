import { release } from 'node:os'
import { createSandbox } from '@smithers/sandbox'
import { describe, expect, test } from 'vitest'
import packageJson from '../package.json' with { type: 'json' }
import { runSmithers } from './fixtures/smithers-process.ts'
import { temporaryFolder } from './fixtures/temporary-folder.ts'

describe('smithers doctor', () => {
  test('prints the report of a sandbox as a table', async () => {
    const root = temporaryFolder()
    const { report, close } = await sandboxOf(root)
    const { exitCode, stdout } = await runSmithers(['doctor', '--root', root])
    await close()
    const lines = stdout.split('\n').map((line) => line.split(/ {2,}/))
    expect(lines[0]).toEqual([`isolation backend: ${report.backend}`])
    expect(lines[1]).toEqual(['property', 'state'])
    expect(lines.slice(2, 6)).toEqual(Object.entries(report.enforced))
    const facts = new Map(lines.slice(6).map(([name = '', value]) => [name, value]))
    expect(facts.get('file guard')).toBe(report.guard)
    expect(facts.get('network mode')).toBe('none')
    const hasOwnNetwork = ['namespaces', 'bubblewrap'].includes(report.backend)
    expect(facts.get('network by host')).toBe(hasOwnNetwork ? 'works' : 'does not work')
    expect(stdout.includes('needs the backend "namespaces"')).toBe(!hasOwnNetwork)
    expect(facts.get('node')).toBe(process.version)
    expect(facts.get('kernel')).toContain(release())
    expect(facts.get('ripgrep')).toMatch(/^\d+\.\d+/)
    if (report.backend === 'bubblewrap') expect(facts.get('bubblewrap')).toMatch(/^\d+\.\d+/)
    for (const { what, why, fix } of report.notEnforced) {
      expect(stdout).toContain(`${what}: ${why}\n`)
      expect(stdout.split(`for more: ${fix}\n`)).toHaveLength(2)
    }
    for (const { why } of report.limitations) expect(stdout).toContain(`works less: ${why}\n`)
    expect(exitCode).toBe(report.backend === 'none' ? 1 : 0)
  })

  test('prints with --json the report as one document', async () => {
    const root = temporaryFolder()
    const { report, close } = await sandboxOf(root)
    const { stdout } = await runSmithers(['doctor', '--root', root, '--json'])
    await close()
    expect(stdout.trimEnd()).not.toContain('\n')
    const { type, versions, networkByHost, ...others } = JSON.parse(stdout) as {
      type: string
      versions: object
      networkByHost: object
    }
    const works = ['namespaces', 'bubblewrap'].includes(report.backend)
    expect(networkByHost).toMatchObject({ works })
    expect(type).toBe('doctor')
    expect(others).toEqual(report)
    expect(versions).toMatchObject({ node: process.version, smithers: packageJson.version })
  })
})

async function sandboxOf(
  rootDir: string,
): Promise<Pick<Awaited<ReturnType<typeof createSandbox>>, 'report' | 'close'>> {
  const sandbox = await createSandbox({ rootDir, warn() {} })
  return { report: sandbox.report, close: () => sandbox.close() }
}
