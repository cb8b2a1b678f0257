/** The page of the first run: the first organization and its first administrator. */
import "../shared/base.css"
import "../shared/controls.css"
import "./setup.css"
import { render } from "preact"
import { applyTheme } from "../shared/theme.ts"
import { Setup } from "./Setup.tsx"

// The one-time code is removed from the address first.
const code = location.hash.slice(1)
history.replaceState(null, "", "/setup")

applyTheme(document.documentElement)
render(<Setup code={code} />, document.getElementById("app")!)
