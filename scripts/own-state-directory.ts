import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

// Default logs of a test file stay out of the user's state directory, and out of other test files.
const folder = mkdtempSync(join(tmpdir(), 'smithers-test-state-'))
process.env['XDG_STATE_HOME'] = folder

afterAll(() => rmSync(folder, { recursive: true, force: true }))
