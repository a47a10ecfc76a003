import { Hono } from 'hono'
import { cors } from 'hono/cors'

type Serve = (request: Request) => Promise<Response>

/** Answers what browsers ask before a page may call another server, and lets the page read the answers. */
export function forWebPages(serve: Serve): Serve {
  const app = new Hono()
  const exposeHeaders = ['Mcp-Session-Id', 'WWW-Authenticate', 'Retry-After']
  const allowMethods = ['GET', 'POST', 'DELETE']
  // The page was checked before.
  app.use(cors({ origin: (origin) => origin, allowMethods, exposeHeaders, maxAge: 600 }))
  app.all('*', ({ req }) => serve(req.raw))
  return async (request) => app.fetch(request)
}
