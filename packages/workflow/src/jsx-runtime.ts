// What the compiler calls for JSX with `"jsx": "react-jsx", "jsxImportSource": "@smithers/workflow"`.
import {
  type Component,
  createElement,
  type WorkflowElement,
  type WorkflowNode,
} from './tree/element.ts'

/** Groups children without a tag of its own: `<>…</>`. */
export function Fragment(props: { readonly children?: WorkflowNode }): WorkflowElement {
  return createElement('fragment', props)
}

/** Evaluates a tag. Called by compiled code, not by hand. */
export function jsx(type: Component, props: object): WorkflowElement {
  return createElement(type, props)
}

/** {@link jsx} for a tag with several children. */
export const jsxs: typeof jsx = jsx

/** How TypeScript checks the tags of a workflow: every tag is a function, none is a word. */
export declare namespace JSX {
  type Element = WorkflowElement
  type ElementType = Component
  interface ElementChildrenAttribute {
    readonly children: unknown
  }
  interface IntrinsicAttributes {
    readonly key?: string | number
  }
  // oxlint-disable-next-line typescript/no-empty-object-type -- the compiler asks for this name.
  interface IntrinsicElements {}
}
