import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeIsolations, newSandbox } from '../fixtures/sandboxes.ts'

const secret = `secret-${process.pid}`
const names = [
  'OPENAI_API_KEY',
  'ANTHROPIC_API_KEY',
  'AWS_SECRET_ACCESS_KEY',
  'NPM_TOKEN',
  'GITHUB_TOKEN',
]

describeIsolations('a secret of the parent', (isolation) => {
  beforeAll(() => {
    for (const name of names) process.env[name] = secret
  })
  afterAll(() => {
    for (const name of names) delete process.env[name]
  })

  test('is not in the environment of a command', async () => {
    const sandbox = await newSandbox({ isolation })
    const { output } = await sandbox.run('sh', ['-c', 'env; cat /proc/self/environ; export -p'])
    expect(output).toContain('PATH=')
    expect(output).not.toContain(secret)
  })

  test('reaches a command that is given it by name', async () => {
    const sandbox = await newSandbox({ isolation, env: { pass: ['NPM_TOKEN'] } })
    const { output } = await sandbox.run('env')
    expect(output.split('\n').filter((line) => line.includes(secret))).toEqual([
      `NPM_TOKEN=${secret}`,
    ])
  })

  test('cannot be read from the parent process where files are enforced', async () => {
    const sandbox = await newSandbox({ isolation })
    const { output, enforced } = await sandbox.run('sh', [
      '-c',
      `cat /proc/${process.pid}/environ /proc/$PPID/environ`,
    ])
    // Without isolation a command has the rights of the user, these included; the report says so.
    if (enforced.files === 'none') expect(output).not.toBe('')
    else expect(output).not.toContain(secret)
  })
})
