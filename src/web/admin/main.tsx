import "../shared/base.css"
import "./admin.css"
import { render } from "preact"
import { applyTheme } from "../shared/theme.ts"
import { App } from "./App.tsx"

applyTheme(document.documentElement)
render(<App />, document.getElementById("app")!)
