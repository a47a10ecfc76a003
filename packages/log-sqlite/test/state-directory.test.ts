import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSqliteLog, defaultLogPath, stateDirectory } from '@smithers/log-sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

let folder: string
let project: string
let env: { XDG_STATE_HOME: string }

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'smithers-state-'))
  project = join(folder, 'my project')
  mkdirSync(project)
  env = { XDG_STATE_HOME: join(folder, 'state') }
})

afterEach(() => rmSync(folder, { recursive: true }))

describe('stateDirectory', () => {
  it('creates a directory for this user alone, named after the project', () => {
    const directory = stateDirectory(project, { env })
    expect(directory).toMatch(/\/state\/smithers\/my-project-[0-9a-f]{12}$/)
    expect(statSync(directory).mode & 0o777).toBe(0o700)
  })

  it('gives one project one directory, and another project another', () => {
    const link = join(folder, 'link')
    symlinkSync(project, link)
    mkdirSync(join(folder, 'other', 'my project'), { recursive: true })
    const directory = stateDirectory(project, { env })
    expect(stateDirectory(link, { env })).toBe(directory)
    expect(stateDirectory(join(folder, 'other', 'my project'), { env })).not.toBe(directory)
  })

  it('ignores a relative XDG_STATE_HOME, as the specification of the variable says', () => {
    const relative = stateDirectory(project, { env: { XDG_STATE_HOME: 'state' } })
    rmSync(relative, { recursive: true })
    expect(relative.startsWith(join(homedir(), '.local', 'state', 'smithers'))).toBe(true)
  })

  it.each([
    ['that others may write to', (path: string) => chmodSync(path, 0o777)],
    [
      'that is a link',
      (path: string) => {
        rmSync(path, { recursive: true })
        symlinkSync(project, path)
      },
    ],
  ])('refuses a directory %s', (_which, spoil) => {
    spoil(stateDirectory(project, { env }))
    expect(() => stateDirectory(project, { env })).toThrow(
      expect.objectContaining({
        code: 'TOOL_LOG_UNAVAILABLE',
        details: { reason: 'unsafe-directory' },
      }),
    )
  })

  it('says what to do when the directory cannot be created', () => {
    const impossible = { XDG_STATE_HOME: '/dev/null/nowhere' }
    expect(() => stateDirectory(project, { env: impossible })).toThrow(/Set XDG_STATE_HOME/)
  })

  it('names the project when that is what is missing, not the directory for state', () => {
    const missing = join(folder, 'missing')
    expect(() => stateDirectory(missing, { env })).toThrow(
      expect.objectContaining({
        code: 'TOOL_LOG_UNAVAILABLE',
        details: { reason: 'no-project' },
        message: expect.not.stringContaining('XDG_STATE_HOME') as unknown,
      }),
    )
    expect(() => stateDirectory(missing, { env })).toThrow(`"${missing}" cannot be found`)
    expect(existsSync(env.XDG_STATE_HOME)).toBe(false)
  })
})

describe('defaultLogPath', () => {
  it('is one file for a project with a .git, wherever in it one asks', () => {
    const deep = join(project, 'packages', 'shop')
    mkdirSync(deep, { recursive: true })
    expect(defaultLogPath(deep, { env })).not.toBe(defaultLogPath(project, { env }))
    mkdirSync(join(project, '.git'))
    expect(defaultLogPath(deep, { env })).toBe(defaultLogPath(project, { env }))
    const link = join(folder, 'link')
    symlinkSync(deep, link)
    expect(defaultLogPath(link, { env })).toBe(defaultLogPath(project, { env }))
  })

  it('names a file in the state directory, where a log can be opened', async () => {
    const path = defaultLogPath(project, { env })
    expect(path).toBe(join(stateDirectory(project, { env }), 'smithers.db'))
    await createSqliteLog({ path }).close()
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })
})
