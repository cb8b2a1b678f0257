import { readFileSync } from "node:fs"
import { encode } from "gpt-tokenizer/encoding/o200k_base"
import { describe, expect, it } from "vitest"
import { encodeId, makeIdGenerator } from "../../src/domain/ids.ts"
import type { Page } from "../../src/domain/Page.ts"
import { changeDefinitions } from "../../src/tools/ChangeTool.ts"
import { toolDefinitions } from "../../src/tools/definitions.ts"
import { CHANGE_PROMPT, SYSTEM_PROMPT } from "../../src/tools/prompt.ts"
import { renderPage, renderTypes } from "../../src/tools/render.ts"

const tokens = (text: string) => encode(text).length

const PEOPLE: ReadonlyArray<readonly [name: string, status: string, phone: string, city: string]> = [
  ["Taylor Jackson", "Lost", "724-857-2625", "Boston"],
  ["Quinn Harris", "Proposal", "399-396-5380", "Chicago"],
  ["Jaden White", "Won", "607-148-6642", "Denver"],
  ["Alex Thomas", "Qualified", "368-320-1652", "Austin"],
  ["Jordan Garcia", "Lead", "952-257-9165", "Seattle"],
  ["Reese Taylor", "Lead", "906-607-4052", "Portland"],
  ["Jessie Thomas", "Won", "330-763-3441", "Boston"],
  ["Angel Williams", "Proposal", "659-600-4015", "Miami"],
  ["Parker Martin", "Qualified", "147-176-5593", "Dallas"],
  ["Morgan Thompson", "Lost", "218-199-4846", "Chicago"]
]

const README = readFileSync(new URL("../../README.md", import.meta.url), "utf8").replace(/\s+/g, " ")

describe("the token cost of the tools (o200k)", () => {
  it("is at most 350 for the three tools, and what README says", () => {
    const cost = tokens(JSON.stringify(toolDefinitions))
    console.log(`three tools: ${cost} tokens`)
    expect(toolDefinitions.map(({ name }) => name)).toEqual(["listEntityTypes", "listColumnsForType", "findEntities"])
    expect(cost).toBeLessThanOrEqual(350)
    expect(README).toContain(`The three tool definitions cost ${cost} tokens`)
  })

  it("is at most 1,500 for a list of 898 types, which says how to find the others", () => {
    const entityTypes = Array.from({ length: 898 }, (_, at) => ({
      id: `purchase_order_${at}s`,
      name: `Purchase order ${at}`,
      pluralName: `Purchase orders ${at}`
    }))
    const text = renderTypes({ entityTypes })
    expect(tokens(text)).toBeLessThanOrEqual(1500)
    expect(text).toContain("838 more: find them with nameContains")
    expect(renderTypes({ entityTypes: entityTypes.slice(0, 60) })).not.toContain("more:")
  })

  it("is at most 110 for the tool that drafts changes, beside the unchanged three", () => {
    const [fourth, ...others] = changeDefinitions.slice(toolDefinitions.length)
    const cost = tokens(JSON.stringify(fourth))
    console.log(`the fourth tool: ${cost} tokens`)
    expect(others).toEqual([])
    expect(JSON.stringify(changeDefinitions.slice(0, 3))).toBe(JSON.stringify(toolDefinitions))
    expect(cost).toBeLessThanOrEqual(110)
  })

  it("is at most 345 for the system prompt, and 42 more for a turn that may propose changes", () => {
    const [plain, changing] = [tokens(SYSTEM_PROMPT), tokens(CHANGE_PROMPT)]
    console.log(`system prompt: ${plain} tokens, with changes ${changing}`)
    expect(CHANGE_PROMPT.startsWith(SYSTEM_PROMPT)).toBe(true)
    expect(plain).toBeLessThanOrEqual(345)
    expect(changing - plain).toBeLessThanOrEqual(42)
  })

  it("is at most 240 for a page of ten people with five columns, and what README says", () => {
    let now = Date.UTC(2026, 10, 21)
    let seed = 7
    const nextId = makeIdGenerator(
      () => (now += 86_400_007),
      () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647
    )
    const pages = Array.from({ length: 50 }, (): Page => ({
      total: 10,
      entities: PEOPLE.map(([displayName, status, phone, city]) => ({
        entityId: encodeId(nextId()),
        displayName,
        status,
        columns: { phone, city }
      }))
    }))
    const mean = (render: (page: Page) => string) =>
      Math.round(pages.reduce((sum, page) => sum + tokens(render(page)), 0) / pages.length)
    const cost = mean(renderPage)
    console.log(
      `ten people with name, status, phone, city and id: ${cost} tokens (as JSON ${mean((page) => JSON.stringify(page))})`
    )
    expect(cost).toBeLessThanOrEqual(240)
    expect(README).toContain(`a page of ten people with five columns about ${cost}.`)
  })
})
