import { execaSync } from 'execa'

const rounds = 21

/**
 * What importing a package adds to starting Node, in milliseconds: the median of paired differences, each pair run
 * back to back so that a slow moment of the machine falls on both.
 */
export function medianImportCostMs(project: string, packageName: string): number {
  const bare = () => startMs(project, '0')
  const importing = () => startMs(project, `await import('${packageName}')`)
  bare()
  importing()
  const differences = Array.from({ length: rounds }, () => {
    const without = bare()
    return importing() - without
  })
  return differences.toSorted((a, b) => a - b)[Math.floor(rounds / 2)] ?? Number.NaN
}

function startMs(cwd: string, program: string): number {
  const startedAt = performance.now()
  execaSync(process.execPath, ['--input-type=module', '-e', program], { cwd, stdio: 'inherit' })
  return performance.now() - startedAt
}
