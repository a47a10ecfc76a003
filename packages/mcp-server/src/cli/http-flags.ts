import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { SmithersError } from '@smithers/tool-core'
import type { OAuthResource, ServeHttpOptions } from '../http/http-options.ts'
import type { ServerFlags } from './server-command.ts'
import { outsideRoot, secretFrom } from './trusted-file.ts'

/**
 * The options of the HTTP server; undefined for stdio.
 *
 * @throws SmithersError `INVALID_INPUT` for flags that contradict each other, or that stdio would ignore
 */
export async function httpFlags(flags: ServerFlags): Promise<ServeHttpOptions | undefined> {
  const { http, host, token, tokenFile, verify, publicUrl, root } = flags
  const { allowHost, allowOrigin, maxSessions } = flags
  if (http === undefined) {
    const given = {
      host,
      token,
      'token-file': tokenFile,
      verify,
      'public-url': publicUrl,
      'max-sessions': maxSessions,
      'allow-host': allowHost[0],
      'allow-origin': allowOrigin[0],
    }
    const needless = Object.entries(given).find(([, value]) => value !== undefined)?.[0]
    if (needless !== undefined) throw wrong(`--${needless} needs --http.`)
    return undefined
  }
  const sources = [token, tokenFile, verify].filter((value) => value !== undefined)
  if (sources.length > 1) throw wrong('--token, --token-file and --verify exclude each other.')
  if ((verify === undefined) !== (publicUrl === undefined)) {
    throw wrong('--verify and --public-url go together.')
  }
  const secret = tokenFile === undefined ? token : secretFrom('--token-file', tokenFile, root)
  return {
    port: http,
    ...(host !== undefined && { host }),
    ...(secret !== undefined && { token: secret }),
    ...(verify !== undefined &&
      publicUrl !== undefined && { oauth: await verifier(verify, publicUrl, root) }),
    maxSessions,
    allowedHosts: allowHost,
    allowedOrigins: allowOrigin,
  }
}

async function verifier(path: string, publicUrl: string, root: string): Promise<OAuthResource> {
  const file = outsideRoot('--verify', path, root)
  if (!URL.canParse(publicUrl)) throw wrong(`--public-url ${publicUrl} is not an address.`)
  const loaded = (await import(pathToFileURL(resolve(file)).href)) as {
    readonly verifyAccessToken?: OAuthResource['verifyAccessToken']
    readonly oauthMetadata?: OAuthResource['metadata']
  }
  const { verifyAccessToken, oauthMetadata: metadata } = loaded
  if (typeof verifyAccessToken !== 'function') {
    throw wrong(`--verify ${path} does not export a function verifyAccessToken.`)
  }
  return { verifyAccessToken, resource: new URL(publicUrl), metadata }
}

function wrong(message: string): SmithersError {
  return new SmithersError('INVALID_INPUT', message, { effect: 'none' })
}
