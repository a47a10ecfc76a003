import { expect, test } from 'vitest'
import { runSmithers } from './fixtures/smithers-process.ts'

test('smithers explain says what a code means and what to do', async () => {
  const { exitCode, stdout } = await runSmithers(['explain', 'tool_patch_failed'])
  expect(exitCode).toBe(0)
  const [code, meaning, advice] = stdout.split('\n')
  expect(code).toBe('TOOL_PATCH_FAILED')
  expect(meaning).toContain('The patch does not fit the file')
  expect(advice).toContain('"smithers show" prints it')
})

test('smithers explain lists every code without one, and refuses an unknown one', async () => {
  const { stdout } = await runSmithers(['explain'])
  expect(stdout).toMatch(/^TOOL_OUTCOME_UNKNOWN +The process ended/m)
  expect(stdout.trimEnd().split('\n').length).toBeGreaterThan(45)
  const unknown = await runSmithers(['explain', 'TOOL_ODD'])
  expect(unknown.exitCode).toBe(2)
  expect(unknown.stderr).toContain('Unknown code "TOOL_ODD"')
  expect(unknown.stderr).not.toContain('Did you mean')
  const inherited = await runSmithers(['explain', 'constructor'])
  expect(inherited.exitCode).toBe(2)
})

test.each([
  ['tool_patch_faild', 'TOOL_PATCH_FAILED'],
  ['PATCH_FAILED', 'TOOL_PATCH_FAILED'],
  ['TASK-TIMEOUT', 'TASK_TIMEOUT'],
])('smithers explain names the code that "%s" may mean', async (typed, meant) => {
  const { exitCode, stderr } = await runSmithers(['explain', typed])
  expect(exitCode).toBe(2)
  expect(stderr).toContain(`Unknown code "${typed}". Did you mean ${meant}? "smithers explain"`)
})
