// The compiler calls this for JSX with `"jsx": "react-jsx", "jsxImportSource": "@smithers/workflow"`.
import {
  type Component,
  createElement,
  markSeparateChildren,
  type WorkflowElement,
  type WorkflowNode,
} from './tree/element.ts'

/** Groups children without a tag of its own: `<>…</>`. */
export function Fragment(props: { readonly children?: WorkflowNode }): WorkflowElement {
  return createElement('fragment', props)
}

/** Evaluates a tag with at most one child. Called by compiled code. */
export function jsx(type: Component, props: object): WorkflowElement {
  return createElement(type, props)
}

/** Evaluates a tag with several children. Called by compiled code. */
export function jsxs(type: Component, props: object): WorkflowElement {
  markSeparateChildren(props)
  return createElement(type, props)
}

/** How TypeScript checks the tags of a workflow: every tag is a function; there are no intrinsic elements. */
export declare namespace JSX {
  type Element = WorkflowElement
  type ElementType = Component
  interface ElementChildrenAttribute {
    readonly children: unknown
  }
  interface IntrinsicAttributes {
    readonly key?: string | number
  }
  // oxlint-disable-next-line typescript/no-empty-object-type -- the compiler requires this name.
  interface IntrinsicElements {}
}
