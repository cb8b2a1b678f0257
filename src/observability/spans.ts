/** Former names, until their last callers use `Telemetry`. */
export { type Attributes as Told, completed as past, setAttributes as tell } from "./Telemetry.ts"
