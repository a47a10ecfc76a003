import { render } from 'preact'
import { createViewerContext, startViewer } from './model/viewer.ts'
import { App } from './shell/app.tsx'
import { applyTheme, storedTheme } from './shell/theme.ts'
import { exportedSource } from './source/file-source.ts'
import { httpSource } from './source/http-source.ts'
import { takeToken } from './source/session-token.ts'
import { SourceError, type ViewerSource } from './source/viewer-source.ts'

const viewer = createViewerContext(chosenSource())
// Asks before it draws: the answers are on their way meanwhile.
void startViewer(viewer, new AbortController().signal)
applyTheme(storedTheme())
const root = document.getElementById('app')
if (root !== null) render(<App viewer={viewer} />, root)

/** The run in this file, or the server that sent the page. */
function chosenSource(): ViewerSource {
  try {
    return exportedSource() ?? httpSource(takeToken() ?? '')
  } catch (error) {
    const { code, message } =
      error instanceof SourceError ? error : { code: 'UNREADABLE', message: String(error) }
    return {
      ...httpSource(''),
      kind: 'file',
      session: () => Promise.reject(new SourceError(code, message)),
    }
  }
}
