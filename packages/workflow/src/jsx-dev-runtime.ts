// The compiler calls this for JSX in development mode (`"jsx": "react-jsxdev"`).
import { jsx, jsxs } from './jsx-runtime.ts'
import type { Component, WorkflowElement } from './tree/element.ts'

export { Fragment } from './jsx-runtime.ts'
export type { JSX } from './jsx-runtime.ts'

/** Evaluates a tag in development mode. The source position that the compiler adds is ignored. */
export function jsxDEV(
  type: Component,
  props: object,
  _key?: unknown,
  hasSeparateChildren?: boolean,
): WorkflowElement {
  return hasSeparateChildren === true ? jsxs(type, props) : jsx(type, props)
}
