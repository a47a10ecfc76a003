import { execa } from 'execa'

/** The path of a Node of that major version, from its npm package. `cwd` is a directory outside of any project. */
export async function nodeBinary(major: number, cwd: string): Promise<string> {
  if (process.versions.node.startsWith(`${major}.`)) return process.execPath
  const script = 'process.stdout.write(process.execPath)'
  const { stdout } = await execa('npx', ['--yes', '-p', `node@${major}`, 'node', '-e', script], {
    cwd,
    env: outerEnvironment(),
    extendEnv: false,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return stdout
}

/** Without what an npx that runs this script told its own child: an inner npx would take it for itself. */
function outerEnvironment(): NodeJS.ProcessEnv {
  const { npm_config_call: _call, npm_config_package: _package, ...rest } = process.env
  return rest
}
