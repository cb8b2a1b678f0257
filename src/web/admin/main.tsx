import "../shared/base.css"
import { render } from "preact"

render(
  <main>
    <h1>administration</h1>
  </main>,
  document.getElementById("app")!
)
