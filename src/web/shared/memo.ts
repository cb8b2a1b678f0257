/** `memo` of preact/compat, without the rest of that module. */
import { Component, type FunctionComponent, h } from "preact"

/** A component that is rendered again only when a property or a signal that it reads has changed. */
export const memo = <Props extends object>(View: FunctionComponent<Props>): new () => Component<Props> =>
  // The view is a child, so that its own signals render it.
  class extends Component<Props> {
    override shouldComponentUpdate(next: Readonly<Props>): boolean {
      const before = Object.entries(this.props)
      return (
        before.length !== Object.keys(next).length ||
        before.some(([name, value]) => (next as Record<string, unknown>)[name] !== value)
      )
    }
    override render() {
      return h(View, this.props as Props)
    }
  }
