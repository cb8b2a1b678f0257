import type { Reference } from "../../../wire/conversations.ts"

/** What a client sends back to choose an entity of the last answer. */
export const handleOf = ({ id, type }: Reference): string => `${type}/${id}`
