import { buildPage } from '../scripts/build-page.ts'

/** The tests load the page as its sources are now. */
export async function setup(): Promise<void> {
  await buildPage()
}
