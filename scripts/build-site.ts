/**
 * Builds the documentation site in `apps/docs`, which has a workspace of its own. `--check` also runs its tests in a
 * browser, `--dev` serves it and rebuilds what changes, `--screenshots` renews docs/images/site.
 */
import { parseArgs } from 'node:util'
import { execa } from 'execa'

const site = 'apps/docs'
const { values: wanted } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    dev: { type: 'boolean', default: false },
    screenshots: { type: 'boolean', default: false },
  },
})
const env = {
  ASTRO_TELEMETRY_DISABLED: '1',
  ...(wanted.screenshots ? { SMITHERS_SCREENSHOTS: '1' } : {}),
}

await execa('pnpm', ['install', '--frozen-lockfile', '--reporter=append-only'], {
  cwd: site,
  stdio: ['ignore', 'ignore', 'inherit'],
})
// The first empties the folder that both write to.
await run('node', ['scripts/write-api.ts'])
await run('node', ['--conditions=@smithers/source', 'scripts/write-commands.ts'])
await run('node', [`${site}/scripts/collect.ts`])
if (wanted.dev) await run('pnpm', ['exec', 'astro', 'dev'], site)
else await build()
if (wanted.check || wanted.screenshots) {
  await run('pnpm', ['exec', 'tsc', '-p', 'tsconfig.json'], site)
  await run('pnpm', ['exec', 'vitest', 'run'], site)
}

/** Astro goes on after some errors, and says so only in what it prints. */
async function build(): Promise<void> {
  const started = Date.now()
  const built = await execa('pnpm', ['exec', 'astro', 'build'], {
    cwd: site,
    env,
    all: true,
    reject: false,
  })
  const failed = built.exitCode !== 0 || built.all.includes('[ERROR]')
  if (failed) console.error(built.all)
  console.log(`Built ${site}/dist in ${Math.round((Date.now() - started) / 1_000)} s.`)
  if (failed) process.exit(1)
}

async function run(program: string, args: readonly string[], cwd = '.'): Promise<void> {
  const { exitCode } = await execa(program, args, { cwd, env, stdio: 'inherit', reject: false })
  if (exitCode !== 0) process.exit(exitCode ?? 1)
}
