import { useState } from "preact/hooks"
import type { Trace, TraceComparison, TraceHeading } from "../../wire/traces.ts"
import { Findings, TraceLink } from "./Findings.tsx"
import { counted, duration, startTime } from "./format.ts"
import { addressOf, comparison, listed, marked, missing, show, trace } from "./state.ts"
import { SpanDetails, Waterfall } from "./Waterfall.tsx"

const Back = () => (
  <button type="button" class="plain back" onClick={() => show({ _tag: "Overview" })}>
    ← All traces
  </button>
)

const Copy = ({ address }: { readonly address: string }) => {
  const [copied, setCopied] = useState(false)
  return (
    <button
      type="button"
      class="quiet"
      onClick={() => {
        void navigator.clipboard.writeText(new URL(address, location.href).href).then(() => setCopied(true))
      }}
    >
      {copied ? "Copied" : "Copy link"}
    </button>
  )
}

const mark = ({ milliseconds, name, reference, spans, startedAt, traceId }: Trace): void => {
  const line = listed.value?.traces.find((one) => one.traceId === traceId)
  marked.value = line ?? {
    milliseconds,
    name,
    reference,
    startedAt,
    traceId,
    spans: spans.length,
    failure: null,
    denied: false
  }
}

/** The request that began a turn, and other traces with the same reference. */
const Related = ({ links, others }: Pick<Trace, "links" | "others">) => (
  <>
    {links.map(({ reference, traceId }) => (
      <p class="soft">
        Begun by <TraceLink id={traceId} reference={reference} />
      </p>
    ))}
    {others.length > 0 && (
      <p class="soft">
        Other traces with this reference:{" "}
        {others.map(({ name, startedAt, traceId }) => (
          <span>
            <TraceLink id={traceId} reference={name} /> {startTime(startedAt)}{" "}
          </span>
        ))}
      </p>
    )}
  </>
)

const Waiting = () => (
  <div class="detail">
    <Back />
    <p class="soft">{missing.value ?? "Loading…"}</p>
  </div>
)

export const Detail = () => {
  const shown = trace.value
  if (shown === undefined) return <Waiting />
  const { dropped, findings, links, milliseconds, name, others, reference, spans, startedAt, traceId } = shown
  return (
    <article class="detail" aria-labelledby="trace-name">
      <Back />
      <header>
        <div>
          <h2 id="trace-name">{name}</h2>
          <p class="soft">
            <span class="ref">{reference}</span> {startTime(startedAt)} · {counted(spans.length, "span")}
            {dropped > 0 && `, ${dropped} more not recorded`} · <span class="id">{traceId}</span>
          </p>
          <Related links={links} others={others} />
        </div>
        <p class="whole">{duration(milliseconds)}</p>
        <div class="actions">
          <button type="button" class="quiet" onClick={() => mark(shown)}>
            Compare…
          </button>
          <Copy address={addressOf({ _tag: "Trace", id: traceId })} />
        </div>
      </header>
      {findings.length > 0 && <Findings findings={findings} isOneTrace={true} />}
      <Waterfall trace={shown} />
      <p class="legend soft">
        <span class="swatch critical" /> critical path <span class="swatch" /> in parallel{" "}
        <span class="swatch failed" /> failed
      </p>
      <SpanDetails trace={shown} />
    </article>
  )
}

const Head = ({ heading, label }: { readonly heading: TraceHeading; readonly label: string }) => (
  <div class="side">
    <p class="soft">{label}</p>
    <p>
      <TraceLink id={heading.traceId} reference={heading.reference} /> {heading.name}
    </p>
    <p class="whole">{duration(heading.milliseconds)}</p>
    <p class="soft">{startTime(heading.startedAt)}</p>
  </div>
)

const change = (before: number, after: number): string =>
  `${after >= before ? "+" : "−"}${duration(Math.abs(after - before))}`

const Place = ({ place, largest }: { readonly place: TraceComparison["places"][number]; readonly largest: number }) => {
  const { after, before, path } = place
  const difference = after.milliseconds - before.milliseconds
  const cell = ({ count, milliseconds }: typeof before) =>
    count === 0 ? "–" : `${duration(milliseconds)}${count > 1 ? ` in ${count}` : ""}`
  return (
    <tr>
      <th scope="row" title={path.join(" › ")}>
        <span class="above">{path.slice(0, -1).join(" › ")}</span> <span class="name">{path.at(-1)}</span>
      </th>
      <td>{cell(before)}</td>
      <td>{cell(after)}</td>
      <td class="difference">
        <span
          class={`meter ${difference > 0 ? "worse" : "better"}`}
          style={{ width: `${(Math.abs(difference) / largest) * 100}%` }}
        />
        <span>{change(before.milliseconds, after.milliseconds)}</span>
      </td>
    </tr>
  )
}

export const Compare = () => {
  const shown = comparison.value
  if (shown === undefined) return <Waiting />
  const { after, before, places } = shown
  const largest = Math.max(0.001, ...places.map((one) => Math.abs(one.after.milliseconds - one.before.milliseconds)))
  const { traceId } = before
  return (
    <article class="detail compare" aria-labelledby="comparison">
      <Back />
      <header>
        <h2 id="comparison">Two traces</h2>
        <div class="actions">
          <button
            type="button"
            class="quiet"
            onClick={() => show({ _tag: "Compare", before: after.traceId, after: traceId })}
          >
            Swap
          </button>
          <Copy address={addressOf({ _tag: "Compare", before: traceId, after: after.traceId })} />
        </div>
      </header>
      <div class="sides">
        <Head heading={before} label="Before" />
        <Head heading={after} label="After" />
        <div class="side">
          <p class="soft">Change</p>
          <p class={`whole ${after.milliseconds > before.milliseconds ? "worse" : "better"}`}>
            {change(before.milliseconds, after.milliseconds)}
          </p>
        </div>
      </div>
      <div class="scrolling" role="region" aria-label="Places and their changes" tabIndex={0}>
        <table class="numbers">
          <thead>
            <tr>
              <th scope="col">Place</th>
              <th scope="col">Before</th>
              <th scope="col">After</th>
              <th scope="col">Change</th>
            </tr>
          </thead>
          <tbody>
            {places.map((place) => (
              <Place key={place.path.join(" › ")} place={place} largest={largest} />
            ))}
          </tbody>
        </table>
      </div>
    </article>
  )
}
