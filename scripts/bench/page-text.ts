/** What the page says before its figures. */
export const introduction: string = [
  'What the tools cost beside the plain code or the peer that does the same job. `pnpm bench --report` measures, and writes this page, its pictures and the [results](benchmarks/results) behind them.',
  '',
  '- **Ratios, not times.** Both sides of a ratio are measured in one run and take turns, so that a slow moment of the machine falls on both. Below 1 × ours is faster. Compare ratios between machines; times differ.',
  '- **Medians.** A figure is the median of its rounds after some that warm up. `p95` is the time that 19 of 20 rounds stay below. Where a few long rounds are run, the table says that it shows the best.',
  '- **Defaults.** Tools are called as a program gets them: in a run, with a log, with files that reach the disk. Where a row says `relaxed`, both sides leave the disk to the kernel.',
  '- **Goals** were set before the measurement. A missed one is marked in the table and striped in the picture.',
  '',
  'To repeat it, leave the machine alone for six minutes and run `pnpm bench --report`; `pnpm bench --report tools mcp` measures only those and keeps the other results. Each section names the command for its table alone. Without `--short` a command takes more rounds. `pnpm bench --report --redraw` draws the page again without measuring.',
  '',
  'Confinement is measured as the user who runs the benchmark and with the backends that work there. [Isolation](isolation.md) and [cost of the sandbox](sandbox-cost.md) explain the backends, [growth](growth.md) explains large logs.',
].join('\n')
