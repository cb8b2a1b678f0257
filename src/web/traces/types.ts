/** What the server answers about traces; times are milliseconds. */

export interface Line {
  readonly traceId: string
  readonly reference: string
  readonly startedAt: string
  readonly name: string
  readonly milliseconds: number
  readonly failure: string | null
  readonly denied: boolean
  readonly spans: number
}

export interface Bar {
  readonly from: number
  readonly to?: number
  readonly count: number
  readonly failed: number
}

export interface Listed {
  readonly traces: ReadonlyArray<Line>
  readonly histogram: ReadonlyArray<Bar>
  readonly slow: number
}

export interface Finding {
  readonly kind: string
  readonly message: string
  readonly command: string
  readonly reference: string
  readonly traces: number
}

export interface Found {
  readonly findings: ReadonlyArray<Finding>
  readonly traces: number
}

export interface Total {
  readonly name: string
  readonly count: number
  readonly self: number
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

export interface Span {
  readonly spanId: string
  readonly depth: number
  readonly name: string
  readonly start: number
  readonly milliseconds: number
  readonly self: number
  readonly critical: boolean
  readonly failure?: string
  readonly attributes: Readonly<Record<string, string | number | boolean>>
}

export interface Heading {
  readonly traceId: string
  readonly reference: string
  readonly startedAt: string
  readonly name: string
  readonly milliseconds: number
}

export interface Trace extends Heading {
  readonly dropped: number
  readonly spans: ReadonlyArray<Span>
  readonly statements: Readonly<Record<string, string>>
  readonly findings: ReadonlyArray<Finding>
}

interface Place {
  readonly milliseconds: number
  readonly count: number
}

export interface Comparison {
  readonly before: Heading
  readonly after: Heading
  readonly places: ReadonlyArray<{
    readonly path: ReadonlyArray<string>
    readonly before: Place
    readonly after: Place
  }>
}
