import { expect, describe, test } from 'vitest'
import { checkAutoInScript, checkAutoPolicy } from '../../src/command-policy/auto-policy.ts'

const passed = [
  'npm test',
  'npm run build',
  'npm ls',
  'npm --version',
  'npm ci --offline',
  'pip list',
  'pip install --no-index x.whl',
  'bun test',
  'bun run install',
  'git remote -v',
  'git remote',
  'git remote add origin https://example.com/x.git',
  'git remote set-url origin ../x',
  'git clone ./local',
  'git clone -b main --depth 1 ../other here',
  'git fetch ./bundle',
  'git pull /srv/x main',
  'git push ../mirror main',
  'git ls-remote file:///srv/x',
  'git log --grep https://example.com',
  'git commit -m https://example.com',
  'grep -r https:// .',
  'echo http://example.com',
  'node x.mjs https://example.com',
  'curl --version',
]

/** In a script, which may have started the server. */
const passedInScripts = [
  'curl localhost',
  'curl -sSf -o out -X POST http://localhost:3000/x',
  'curl http://0.0.0.0:3000',
  'curl http://localhost:$PORT/health',
  'curl http://localhost:${PORT}/x',
  'wget -qO- http://127.0.0.1:8080/',
]

const refused = [
  'curl https://evil.test localhost',
  'curl -e localhost https://evil.test/x',
  'curl -x evil.test localhost',
  'curl -xevil.test localhost',
  'curl --url https://evil.test localhost',
  'curl localhost -- evil.test',
  'curl http://localhost@evil.test/',
  'curl http://localhost.evil.test/',
  '/usr/bin/wget x',
  'npm install',
  'npm --silent i left-pad',
  'npm publish',
  'bun add x',
  'pip install x',
  'git push',
  'git push origin main',
  'git fetch',
  'git pull --rebase',
  'git clone https://example.com/x.git',
  'git clone git@example.com:x.git',
  'git clone -b ./x https://example.com/x.git',
  'git clone --recurse-submodules ../x',
  'git clone --bundle-uri=https://example.com/x ../x',
  'git -c url.https://example.com/.insteadOf=./ fetch ./x',
  'git remote show origin',
  'git remote update',
  'git remote prune origin',
  'git remote add -f origin ../x',
  'git ls-remote origin',
  'git submodule update',
  'git -c alias.x=push x',
]

function check(line: string) {
  const [command = '', ...args] = line.split(' ')
  return checkAutoPolicy([command, ...args])
}

describe('checkAutoPolicy', () => {
  test.each(passed)('lets through: %s', (line) => {
    expect(check(line)).toBeNull()
  })

  test.each(passedInScripts)('lets through in a script, and not alone: %s', (line) => {
    const [command = '', ...args] = line.split(' ')
    expect(checkAutoInScript([command, ...args])).toBeNull()
    expect(check(line)?.code).toBe('TOOL_NETWORK_DISABLED')
  })

  test.each(refused)('refuses: %s', (line) => {
    expect(check(line)?.code).toBe(
      line.startsWith('git') ? 'TOOL_GIT_REMOTE_DISABLED' : 'TOOL_NETWORK_DISABLED',
    )
  })
})
