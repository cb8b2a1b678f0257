/** The page of a person's own account: the passkeys to sign in with. */
import "../shared/base.css"
import "../shared/controls.css"
import "./account.css"
import { render } from "preact"
import { applyTheme } from "../shared/theme.ts"
import { Account } from "./Account.tsx"

applyTheme(document.documentElement)
render(<Account />, document.getElementById("app")!)
