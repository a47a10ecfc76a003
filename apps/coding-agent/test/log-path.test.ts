import { readdirSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { inTurn, run, surroundings } from './fixtures/model-run.ts'
import { runSmithers } from './fixtures/smithers-process.ts'

describe('the log of smithers run', () => {
  test('refuses a log inside the root, where the agent could approve its own calls', async () => {
    const { folder, root, server } = await surroundings(() => ({ text: 'Hello.' }))
    symlinkSync(root, join(folder, 'link'))
    for (const log of [join(root, 'calls.db'), join(folder, 'link', 'calls.db')]) {
      const { exitCode, stderr } = await run(server, { folder, root, log })
      expect(exitCode).toBe(2)
      expect(stderr).toContain(`The log ${log} is inside the root ${root}`)
      expect(stderr).toContain('Leave --log out to keep the log in your state directory')
    }
    expect(server.requests).toEqual([])
    expect(readdirSync(root)).not.toContain('calls.db')
  })

  test('keeps its log in the state directory of the project, private to the user', async () => {
    const { folder, root, server } = await surroundings(
      inTurn([{ call: { name: 'bash', input: { cmd: 'true' } } }, { text: 'Done.' }]),
    )
    const env = { HOME: folder, XDG_STATE_HOME: join(folder, 'state') }
    const args = ['run', 'Go', '--root', root, '--model', 'openai-compatible/m']
    const ran = await runSmithers([...args, '--base-url', server.url], { cwd: root, env })
    expect(ran.exitCode).toBe(0)
    const [project = ''] = readdirSync(join(folder, 'state', 'smithers'))
    const directory = join(folder, 'state', 'smithers', project)
    expect(readdirSync(directory)).toContain('smithers.db')
    expect(statSync(directory).mode & 0o777).toBe(0o700)
    // Found again without --log, from the same project.
    const { stdout } = await runSmithers(['calls', '--json'], { cwd: root, env })
    expect(JSON.parse(stdout)).toMatchObject({ toolName: 'bash', outcome: 'ok' })
  })
})
