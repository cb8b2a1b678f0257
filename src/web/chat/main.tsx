import "../shared/base.css"
import { render } from "preact"

render(
  <main>
    <h1>Max</h1>
  </main>,
  document.getElementById("app")!
)
