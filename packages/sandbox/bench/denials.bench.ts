/**
 * What clients say about a host that is not allowed, in our sandbox and in sandbox-runtime: `pnpm bench denials`. No
 * connection leaves the machine. sandbox-runtime needs socat.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { SandboxManager } from '@anthropic-ai/sandbox-runtime'
import { createSandbox } from '@smithers/sandbox'

const node = process.execPath
const host = 'registry.blocked.test'
const clients: Readonly<Record<string, string>> = {
  'curl, TLS': `curl -sS -m 9 https://${host}/`,
  'curl, plain': `curl -sS -m 9 http://${host}/`,
  wget: `wget -nv -t 1 -T 9 -O - https://${host}/`,
  git: `git ls-remote https://${host}/x.git`,
  npm: `npm view x --registry https://${host}/ --cache ./cache --fetch-retries=0 --no-update-notifier`,
  'Node fetch': `${node} -e 'fetch("https://${host}/").catch((e) => { console.error(String(e), "/", e.cause?.message); process.exitCode = 1 })'`,
  'Python urllib': `/usr/bin/python3 -c 'import urllib.request as r; r.urlopen("https://${host}/")'`,
  'an address': `curl -sS -m 9 --noproxy '' http://169.254.169.254/`,
}

const rootDir = realpathSync(mkdtempSync(join(tmpdir(), 'denials-bench-')))
const sandbox = await createSandbox({
  rootDir,
  network: { allow: ['example.com'] },
  files: { read: [dirname(dirname(node))] },
})
await SandboxManager.initialize({
  network: { allowedDomains: ['example.com'], deniedDomains: [] },
  filesystem: { denyRead: [], allowWrite: [rootDir], denyWrite: [] },
})
try {
  for (const [name, script] of Object.entries(clients)) {
    const ours = await sandbox.run('sh', ['-c', script], { timeoutMs: 60_000 })
    const theirs = await byRuntime(script)
    console.log(`\n## ${name}`)
    console.log(`ours, exit ${ours.exitCode}: ${lastLines(ours.output)}`)
    console.log(`ours, hint: ${ours.hint ?? '–'}`)
    console.log(`sandbox-runtime, exit ${theirs.exitCode}: ${lastLines(theirs.output)}`)
    console.log(`sandbox-runtime, noted: ${theirs.noted || '–'}`)
  }
} finally {
  await sandbox.close()
  await SandboxManager.reset()
  rmSync(rootDir, { recursive: true })
}

/** As its users run a command, with what it adds to the errors of one that failed. */
async function byRuntime(
  script: string,
): Promise<{ exitCode: number; output: string; noted: string }> {
  const line = await SandboxManager.wrapWithSandbox(script)
  const { exitCode, output } = await new Promise<{ exitCode: number; output: string }>(
    (resolve) => {
      execFile(
        '/bin/sh',
        ['-c', line],
        { cwd: rootDir, timeout: 60_000 },
        (error, stdout, stderr) =>
          resolve({ exitCode: Number(error?.code ?? 0), output: `${stdout}${stderr}` }),
      )
    },
  )
  const annotated = SandboxManager.annotateStderrWithSandboxFailures(line, output)
  return { exitCode, output, noted: lastLines(annotated.replace(output, '')) }
}

function lastLines(text: string): string {
  const shown = text
    .trim()
    .split('\n')
    .filter((each) => each.trim() !== '')
  return shown.slice(-3).join(' ⏎ ').slice(0, 300)
}
