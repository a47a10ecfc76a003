import type { APIRoute, GetStaticPaths } from 'astro'
import { getCollection } from 'astro:content'

/** Each page of the site as the Markdown that it is made of, at the address of the page with `.md` at its end. */
export const getStaticPaths = (async () => {
  const pages = await getCollection('docs')
  return pages.map(({ id, data, body }) => ({
    params: { page: id === '' ? 'index' : id },
    props: { text: `# ${data.title}\n\n${body ?? ''}` },
  }))
}) satisfies GetStaticPaths

export const GET: APIRoute = ({ props }) =>
  new Response(String(props['text']), {
    headers: { 'Content-Type': 'text/markdown; charset=utf-8' },
  })
