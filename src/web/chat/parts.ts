/** The parts of the page that are loaded when they are opened. */
export { Actions } from "./form/Actions.tsx"
export { Entity } from "./form/Entity.tsx"
export { Inbox } from "./view/Inbox.tsx"
