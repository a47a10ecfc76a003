import { describe, expect, test } from 'vitest'
import { runSmithers } from './fixtures/smithers-process.ts'
import { temporaryFolder } from './fixtures/temporary-folder.ts'

describe('an unknown option', () => {
  test.for([
    // Without the check first, each of these complains of something else.
    { args: ['show', '--sek'], names: '--sek' },
    { args: ['calls', '--limit', 'many', '--tols', 'x'], names: '--tols', means: '--tool' },
    { args: ['exec', '--rooot', '.', '--', 'true'], names: '--rooot', means: '--root' },
    { args: ['db', 'status', '--shema', 'x'], names: '--shema', means: '--schema' },
    { args: ['approve', '--comment=x', '--jsn'], names: '--jsn', means: '--json' },
  ])('is named first: $args', async ({ args, names, means }) => {
    const { exitCode, stdout, stderr } = await runSmithers(args, { cwd: temporaryFolder() })
    expect(exitCode).toBe(2)
    expect(stdout).toBe('')
    const meant = means === undefined ? '' : String.raw` \(Did you mean ${means}\?\)`
    expect(stderr).toMatch(new RegExp(`^smithers: unknown option '${names}'${meant}`))
    expect(stderr.trimEnd()).not.toContain('\n')
  })

  test.for([
    [['cals', '--log', 'a.db'], 'calls'],
    [['db', 'statsu', '--json'], 'status'],
  ] as const)('behind an unknown command is not the mistake: %s', async ([args, means]) => {
    const { exitCode, stderr } = await runSmithers(args, { cwd: temporaryFolder() })
    expect(exitCode).toBe(2)
    expect(stderr).toBe(
      `smithers: unknown command '${args.find((each) => each !== 'db')}' (Did you mean ${means}?)\n`,
    )
  })

  test('is no value of a known one, and nothing behind two dashes', async () => {
    const { stdout, exitCode } = await runSmithers(['exec', '--', 'echo', '--nothing'], {
      cwd: temporaryFolder(),
    })
    expect([exitCode, stdout]).toEqual([0, '--nothing\n'])
    const odd = await runSmithers(['explain', 'TOOL_TIMEOUT', '--json'])
    expect(odd.exitCode).toBe(0)
    const value = await runSmithers(['calls', '--log', '--odd.db'], { cwd: temporaryFolder() })
    expect(value.stderr).toBe(
      'smithers: There is no log at --odd.db. The first call that is recorded in it creates it; --log names another one.\n',
    )
  })
})
