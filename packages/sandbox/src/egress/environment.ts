import type { Credentials } from './credentials.ts'

/** Above the ports that the kernel gives out by itself, so that no server of a command meets it by chance. */
export const proxyPort = 61_080

/** Where commands find the program that connects them to a host by way of the proxy. */
export const connectorPath = '/run/smithers/confine'

/** Git over ssh, which knows no proxy but starts a program in its place. What the caller sets for it wins. */
export const sshEnvironment: Readonly<Record<string, string>> = Object.freeze({
  GIT_SSH_COMMAND: `ssh -o 'ProxyCommand=${connectorPath} connect %h %p'`,
})

/**
 * The variables by which programs find the proxy. All of them name HTTP, `ALL_PROXY` too: Python's clients fail on a SOCKS
 * address unless a library for it is installed.
 */
export function proxyEnvironment({ user, token }: Credentials): Record<string, string> {
  const url = `http://${user}:${token}@127.0.0.1:${proxyPort}`
  // The loopback device is the command's own, and needs no proxy.
  const own = 'localhost,127.0.0.1,::1'
  return {
    HTTP_PROXY: url,
    HTTPS_PROXY: url,
    http_proxy: url,
    https_proxy: url,
    ALL_PROXY: url,
    all_proxy: url,
    GRPC_PROXY: url,
    NO_PROXY: own,
    no_proxy: own,
    // Without it, Node's own fetch ignores the others.
    NODE_USE_ENV_PROXY: '1',
    npm_config_noproxy: '',
  }
}
