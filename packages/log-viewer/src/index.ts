export type { ErrorText } from './api/session.ts'
export { createViewer, type Viewer, type ViewerOptions, type ViewerPlace } from './create-viewer.ts'
export { serveViewer, type ServedViewer, type ServeViewerOptions } from './serve-viewer.ts'
export { followTimeline, printTimeline, type TimelineOptions } from './text/print-timeline.ts'
