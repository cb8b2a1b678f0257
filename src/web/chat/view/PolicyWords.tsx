/** What a proposed policy changes, in words; who gains and loses what is on the administration page, where it is decided on. */
import type { Preview } from "../../../wire/changes.ts"

const MARKS: Readonly<Record<string, string>> = { "+": "added", "-": "removed", "~": "changed" }

export const PolicyWords = ({ policy }: { readonly policy: NonNullable<Preview["policy"]> }) => {
  const { changes, problems, tests, warnings } = policy
  return (
    <>
      <ul class="differences">
        {changes.map(({ mark, what }) => (
          <li key={mark + what}>
            <span class="visually-hidden">{MARKS[mark]}: </span>
            <span aria-hidden="true">{mark}</span> <bdi>{what}</bdi>
          </li>
        ))}
        {warnings.map((warning) => (
          <li key={warning}>
            Warning: <bdi>{warning}</bdi>
          </li>
        ))}
        {problems.map((problem) => (
          <li key={problem}>
            <bdi>{problem}</bdi>
          </li>
        ))}
      </ul>
      {tests !== undefined && tests.count > 0 && (
        <p>
          {tests.count - tests.failing.length} of its {tests.count} tests pass.
        </p>
      )}
    </>
  )
}
