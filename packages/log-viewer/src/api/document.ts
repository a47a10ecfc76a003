/**
 * The files of the page. Its build writes `page.js` (an ES module) and `page.css` to `dist/page/` of this package. The
 * server answers `GET /` with a document of its own that has `<div id="app"></div>`, `/page.css` in the head and
 * `<script type="module" src="/page.js">` at the end; `GET /icon.svg` is allowed by the policy, too. An exported page has
 * both inlined, and `ExportedRun` beside them.
 *
 * The Content-Security-Policy of the server:
 * `default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none';
 * form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'`. So no style attribute in markup works:
 * set styles through the DOM (`element.style.width = …`) or with SVG attributes.
 */
export interface PageFiles {
  readonly script: string
  readonly style: string
}
