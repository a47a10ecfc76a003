import { SandboxError } from '../../errors/sandbox-error.ts'
import { aptUrls, cargoUrls, pipUrls } from './urls-in-files.ts'
import { gitUrls, goUrls, npmUrls } from './urls-by-program.ts'
import { OutsideSources, type SkippedSource } from './outside-sources.ts'
import { type ConfiguredUrl, ruleOfUrl } from './rule-of-url.ts'

/** Whose configuration must not count. */
export interface HostsOfOptions {
  /** The root of the sandbox. */
  readonly rootDir: string
}

/** The hosts that a tool's configuration names. */
export interface ToolHosts {
  /** For `network.allow`. Empty where nothing is configured. */
  readonly allow: readonly string[]
  /** Which setting each rule comes from. */
  readonly sources: readonly HostSource[]
  /** Files and programs that were left out. */
  readonly skipped: readonly SkippedSource[]
}

/** A setting that names a host. */
export interface HostSource {
  readonly rule: string
  /** Without user names, passwords and paths. */
  readonly url: string
  /** The file, or the program that said it. */
  readonly from: string
  readonly setting: string
}

type ReadUrls = (sources: OutsideSources) => Promise<readonly ConfiguredUrl[]>

function reader(read: ReadUrls): (options: HostsOfOptions) => Promise<ToolHosts> {
  return async (options) => {
    const sources = open(options)
    const found = new Map<string, HostSource>()
    for (const { url, from, setting } of await read(sources)) {
      const named = ruleOfUrl(url)
      if (named === null) sources.skip(from, `${setting} names no host that a rule can name`)
      else found.set(`${named.rule} ${from} ${setting}`, { ...named, from, setting })
    }
    return Object.freeze({
      allow: Object.freeze([...new Set([...found.values()].map(({ rule }) => rule))]),
      sources: Object.freeze([...found.values()]),
      skipped: Object.freeze([...sources.skipped]),
    })
  }
}

function open({ rootDir }: HostsOfOptions): OutsideSources {
  try {
    return new OutsideSources(rootDir)
  } catch (cause) {
    throw new SandboxError(
      'INVALID_INPUT',
      `hostsOf needs a root that exists: ${(cause as Error).message}. Pass the rootDir of the sandbox.`,
      { details: { option: 'rootDir' }, effect: 'none', cause },
    )
  }
}

/**
 * Rules for `network.allow` from what the user and the system have configured for a tool. Nothing is opened by it:
 * pass `allow` on, and `sources` shows what that opens and why.
 *
 * *Guarantees*: no file in the root counts, no program there is started, and no variable but `HOME`,
 * `XDG_CONFIG_HOME` and `PATH` is read: package managers hand the settings of a project to their scripts as variables.
 * No host is known to this code: a tool that nothing is configured for has none, unless it tells its own default (npm, go).
 * *Does not protect against* what a registry serves, and further hosts that it refers to.
 *
 * Each throws `SandboxError` `INVALID_INPUT` for a root that does not exist.
 */
export const hostsOf: Readonly<
  Record<
    'npm' | 'pip' | 'git' | 'apt' | 'cargo' | 'go',
    (options: HostsOfOptions) => Promise<ToolHosts>
  >
> = Object.freeze({
  /** The registries of npm, scoped ones included, as `npm config` tells them. */
  npm: reader(npmUrls),
  /** `index-url` and `extra-index-url` of pip.conf. */
  pip: reader(pipUrls),
  /** URLs in the user's and the system's git configuration: `url`, `remote`, `credential` and `http` sections. */
  git: reader(gitUrls),
  /** The archives in apt's lists of sources. */
  apt: reader(aptUrls),
  /** Registries and sources of cargo's config.toml. */
  cargo: reader(cargoUrls),
  /** `GOPROXY` and `GOSUMDB`, as `go env` tells them. */
  go: reader(goUrls),
})
