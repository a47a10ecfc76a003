/**
 * Tells package managers to work offline: without a network they would retry each download for a minute, in silence, and a command
 * would end at its time limit. What they have in their caches still works.
 */
export const offlineEnvironment: Readonly<Record<string, string>> = Object.freeze({
  npm_config_offline: 'true',
  pnpm_config_offline: 'true',
  YARN_ENABLE_NETWORK: 'false',
  PIP_NO_INDEX: '1',
  PIP_DISABLE_PIP_VERSION_CHECK: '1',
  UV_OFFLINE: '1',
  CARGO_NET_OFFLINE: 'true',
  GOPROXY: 'off',
})
