import { Findings } from "./Findings.tsx"
import { counted, duration, share } from "./format.ts"
import { findings, narrow, totals } from "./state.ts"

/** Shown while no trace is selected: findings, and the spans with the most time over all traces. */
export const Overview = () => {
  const answer = findings.value
  const whole = totals.value.reduce((sum, { self }) => sum + self, 0)
  return (
    <div class="overview">
      <section aria-labelledby="findings">
        <h2 id="findings">Findings</h2>
        {answer === undefined ? (
          <p class="soft">Loading…</p>
        ) : answer.findings.length === 0 ? (
          <p class="soft">No findings in {counted(answer.traces, "trace")}.</p>
        ) : (
          <Findings findings={answer.findings} isOneTrace={false} />
        )}
      </section>
      <section aria-labelledby="where">
        <h2 id="where">Where the time went</h2>
        {totals.value.length === 0 ? (
          <p class="soft">No traces are stored.</p>
        ) : (
          <div class="scrolling" role="region" aria-label="Spans by self time" tabIndex={0}>
            <table class="numbers">
              <thead>
                <tr>
                  <th scope="col">Span</th>
                  <th scope="col">Self time</th>
                  <th scope="col">Share</th>
                  <th scope="col">Count</th>
                  <th scope="col">p50</th>
                  <th scope="col">p95</th>
                  <th scope="col">p99</th>
                </tr>
              </thead>
              <tbody>
                {totals.value.map((total) => (
                  <tr key={total.name}>
                    <th scope="row">
                      <button type="button" class="plain name" onClick={() => narrow({ name: total.name })}>
                        {total.name}
                      </button>
                    </th>
                    <td>{duration(total.self)}</td>
                    <td class="share">
                      <span class="meter" style={{ width: `${(total.self / whole) * 100}%` }} />
                      <span>{share(total.self, whole)}</span>
                    </td>
                    <td>{total.count.toLocaleString("en")}</td>
                    <td>{duration(total.p50)}</td>
                    <td>{duration(total.p95)}</td>
                    <td>{duration(total.p99)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </section>
    </div>
  )
}
