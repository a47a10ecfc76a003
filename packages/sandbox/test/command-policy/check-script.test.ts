import { describe, expect, test } from 'vitest'
import { checkAutoPolicy } from '../../src/command-policy/auto-policy.ts'
import { checkBasicPolicy } from '../../src/command-policy/basic-policy.ts'
import { checkScript } from '../../src/command-policy/check-script.ts'

const passed = [
  'PORT=3000; curl http://localhost:$PORT/health',
  'curl "http://localhost:${PORT}/x"',
  '[ -d node_modules ] || npm ci',
  'git fetch || true',
  'if [ -f package.json ]; then npm ci; fi',
]

const refused = [
  'nice curl https://evil.test localhost',
  'curl -e localhost https://evil.test/x',
  'cd x && npm ci',
  'git fetch; true',
]

describe('checkScript', () => {
  test.each(passed)('lets through where the network is enforced: %s', (script) => {
    expect(checkScript(script, checkAutoPolicy)).toBeNull()
    // The basic check is all that keeps a command off the network.
    expect(checkScript(script, checkBasicPolicy)).not.toBeNull()
  })

  test.each(refused)('refuses: %s', (script) => {
    expect(checkScript(script, checkAutoPolicy)).not.toBeNull()
  })

  test.each([
    'curl http://localhost:3000',
    'curl -e localhost https://evil.test/x',
    'nice curl localhost',
    'true || curl x',
    'if true; then curl x; fi',
  ])('asks the check of the caller about each curl: %s', (script) => {
    const asked: string[] = []
    checkScript(script, ([command]) => {
      asked.push(command)
      return null
    })
    expect(asked).toContain('curl')
  })
})
