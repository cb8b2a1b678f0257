/** The kinds of flags and arguments that most commands take. */
import { Argument, Flag } from "effect/cli"

export const required = (name: string, description: string) => Flag.String(name).pipe(Flag.withDescription(description))

export const optional = (name: string, description: string) => required(name, description).pipe(Flag.optional)

export const toggle = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false))

export const pairs = (name: string, description: string) =>
  Flag.KeyValuePair(name).pipe(Flag.withDescription(description), Flag.withDefault({}))

export const argument = (name: string, description: string) =>
  Argument.String(name).pipe(Argument.withDescription(description))
