import "../shared/base.css"
import "./admin.css"
import { render } from "preact"
import { themed } from "../shared/theme.ts"
import { App } from "./App.tsx"

themed(document.documentElement)
render(<App />, document.getElementById("app")!)
