import { useTools } from '../../use-tools.mjs'

export const dynamic = 'force-dynamic'

export async function GET() {
  return new Response(`${(await useTools()).join('\n')}\n`)
}
