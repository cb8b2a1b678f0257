/** The parts of the page that are loaded when they are first needed. */
export { Actions } from "./form/Actions.tsx"
export { Entity } from "./form/Entity.tsx"
export { Figures } from "./view/Figures.tsx"
export { Inbox } from "./view/Inbox.tsx"
