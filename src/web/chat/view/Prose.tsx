/** An answer's text as HTML. Complete parts are rendered once while the text grows behind them. */
import "./prose.css"
import { memo } from "../../shared/memo.ts"
import { partsOf, toMarkup } from "../../shared/markdown.ts"

const Part = memo(({ text }: { readonly text: string }) => (
  <div class="part" dangerouslySetInnerHTML={{ __html: toMarkup(text) }} />
))

interface Props {
  readonly text: string
  readonly growing?: boolean
  readonly dimmed?: boolean
}

export const Prose = ({ dimmed = false, growing = false, text }: Props) =>
  text === "" ? null : (
    <div class={`prose${growing ? " growing" : ""}${dimmed ? " dimmed" : ""}`}>
      {partsOf(text).map((part, index) => (
        <Part key={index} text={part} />
      ))}
    </div>
  )
