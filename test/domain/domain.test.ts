import { describe, expect, it } from "vitest"
import { decodeId, encodeId, makeIdGenerator } from "../../src/domain/ids.ts"
import { emailKey, foldText, phoneKey, phoneSearchKey } from "../../src/domain/keys.ts"
import { closest, printable, quoted } from "../../src/domain/text.ts"
import { bindScalar, dateRange, isoDate, isoTimestamp, todayIn } from "../../src/domain/values.ts"
import { connected, connectedAmong } from "../../src/domain/connected.ts"
import { columnByKey, type EntityType, ID_COLUMN } from "../../src/domain/EntityType.ts"
import { systemCatalog } from "../support/catalog.ts"

describe("ids", () => {
  it("round-trip through their canonical text only", () => {
    for (const id of [0n, 1n, 25n, 26n, 1234567890123456789n, (1n << 63n) - 1n]) {
      const text = encodeId(id)
      expect(decodeId(text)).toBe(id)
      expect(text).toMatch(/^[a-z]{1,14}$/)
      expect(decodeId(`a${text}`)).toBeUndefined()
      expect(decodeId(text.toUpperCase())).toBeUndefined()
    }
    for (const text of ["", "1", "a b", "ä", "zzzzzzzzzzzzzz", "zzzzzzzzzzzzzzz", "__proto__"])
      expect(decodeId(text)).toBeUndefined()
  })

  it("increase without repeating, even if the clock stands still or goes back", () => {
    let now = Date.UTC(2026, 0, 1)
    const next = makeIdGenerator(
      () => now,
      () => 0.999
    )
    const ids = Array.from({ length: 200_000 }, (_, index) => {
      if (index === 100_000) now -= 60_000
      return next()
    })
    expect(ids.every((id, index) => index === 0 || id > ids[index - 1]!)).toBe(true)
    expect(ids.at(-1)! < 1n << 63n).toBe(true)
  })
})

describe("a type among others", () => {
  it("is linked to its targets without a look at the columns of the others", () => {
    const column = (target: string) =>
      ({
        key: target,
        slug: target,
        name: target,
        kind: "reference",
        storage: { _tag: "One", column: "x", target }
      }) as never
    const type = (key: string, columns: ReadonlyArray<never>) =>
      ({ key, slug: key, columns, mapping: { id: { column: "id", type: "uuid" } } }) as unknown as EntityType
    const unread = {
      ...type("b", []),
      get columns(): never {
        throw new Error("A schema of 1,000 tables would be read 1,000 times")
      }
    }
    const one = type("a", [column("a"), column("b"), column("gone")])
    const linked = connectedAmong(one, [unread, type("a", [])])
    expect(linked.columns.map(({ ids, slug }) => [slug, ids])).toEqual([
      ["a", "uuid"],
      ["b", "uuid"]
    ])
    expect(connected([one, type("b", [])])[0]).toEqual(linked)
  })
})

describe("search keys", () => {
  it("fold case, accents, undecomposed letters, compatibility forms and white space", () => {
    expect(foldText("  Élodie \t DÜPONT ")).toBe("elodie dupont")
    expect(foldText("Straße Łódź Ærø Þór ﬁn Ⅻ")).toBe("strasse lodz aero thor fin xii")
    expect(foldText("İstanbul ısı")).toBe("istanbul isi")
    expect(foldText("O’Brien")).toBe("o'brien")
    expect(foldText(foldText("Ǆ ǅ ﷺ"))).toBe(foldText("Ǆ ǅ ﷺ"))
  })

  it("parse phone numbers of any format with the organization's country, and reject extensions", () => {
    for (const text of ["724-857-2625", "(724) 857 2625", "+1 724 857-2625", "1 724.857.2625", "tel:+17248572625"]) {
      expect(phoneKey(text, "US"), text).toBe("+17248572625")
    }
    expect(phoneKey("0711 2842222", "DE")).toBe("+497112842222")
    for (const text of ["", "911", "724-857-2625 ext. 5", "724-857-2625x5", "abc", "7".repeat(100)])
      expect(phoneKey(text, "US"), text).toBeUndefined()
  })

  it("find a phone number with its extension, in any way of writing it, apart from the number without", () => {
    for (const text of ["+1 512 555 0100 ext. 12", "+1 512 555 0100x12", "+15125550100 #12", "+1-512-555-0100;ext=12"])
      expect(phoneSearchKey(text, "DE"), text).toBe("+15125550100#12")
    for (const text of ["(512) 555-0100 Ext 012", "512.555.0100, extension: 012", "1 512 555 0100 X012"])
      expect(phoneSearchKey(text, "US"), text).toBe("+15125550100#012")
    for (const text of ["0711 2842222 Durchwahl 12", "0049 711 2842222 DW 12", "+49 (0)711 2842222 App. 12"])
      expect(phoneSearchKey(text, "DE"), text).toBe("+497112842222#12")
    expect(phoneSearchKey("0044 20 7946 0018", "US")).toBe("+442079460018")
    expect(phoneSearchKey("512-555-0100", "US")).toBe("+15125550100")
    for (const text of ["x12", "ext. 5", "12 x 12", "call ext 12345678901", `${"1".repeat(99)} x1`])
      expect(phoneSearchKey(text, "US"), text).toBeUndefined()
    for (const text of ["+1 512 555 0100 ext. 12", "512 555 0100 x12"])
      expect(phoneKey(text, "US"), text).toBeUndefined()
  })

  it("lower-case e-mail addresses and accept one without a top-level domain", () => {
    expect(emailKey(" Taylor.Jackson@NanoLabs ")).toBe("taylor.jackson@nanolabs")
    expect(emailKey("İ@x")).toBe("İ@x")
    for (const text of ["", "@", "a@", "@b", "a@b@c", "a b@c"]) expect(emailKey(text)).toBeUndefined()
  })
})

describe("dates", () => {
  const today = () => "2026-12-31"
  it("parse into half-open ranges", () => {
    expect(dateRange("2026", today)).toEqual({ from: "2026-01-01", to: "2027-01-01" })
    expect(dateRange("2026-12", today)).toEqual({ from: "2026-12-01", to: "2027-01-01" })
    expect(dateRange("2024-02-29", today)).toEqual({ from: "2024-02-29", to: "2024-03-01" })
    expect(dateRange("Today", today)).toEqual({ from: "2026-12-31", to: "2027-01-01" })
    expect(dateRange("tomorrow", today)).toEqual({ from: "2027-01-01", to: "2027-01-02" })
    expect(dateRange("yesterday", today)).toEqual({ from: "2026-12-30", to: "2026-12-31" })
    for (const text of ["2026-13", "2026-02-30", "0000", "26", "2026-1", "20260101", "soon", "10000"])
      expect(dateRange(text, today)).toBeUndefined()
  })

  it("must exist, and today depends on the organization's time zone", () => {
    expect([isoDate("2026-02-29"), isoDate("2024-02-29"), isoDate("0001-01-01")]).toEqual([
      undefined,
      "2024-02-29",
      "0001-01-01"
    ])
    expect([
      isoTimestamp("2026-03-31 14:00"),
      isoTimestamp("2026-03-31T24:00"),
      isoTimestamp("2026-03-31T14:00:00+02:00")
    ]).toEqual(["2026-03-31T14:00", undefined, "2026-03-31T14:00:00+02:00"])
    expect(todayIn("Pacific/Auckland", new Date("2026-06-30T13:00:00Z"))).toBe("2026-07-01")
    expect(todayIn("America/New_York", new Date("2026-06-30T03:00:00Z"))).toBe("2026-06-29")
  })
})

describe("literals of a policy", () => {
  const people = systemCatalog.types[0]!
  const read = (key: string, value: string | number | boolean) =>
    bindScalar(key === "id" ? ID_COLUMN : columnByKey(people, key)!, value, systemCatalog.organization)

  it("are parsed by column kind, and invalid values are unknown", () => {
    expect(read("phone", "(724) 857-2625")).toBe("+17248572625")
    expect(read("email", "A@B")).toBe("a@b")
    expect(read("status", "VIP")).toBe("VIP")
    expect([
      read("status", 5),
      read("status", true),
      read("phone", "x"),
      read("email", "x"),
      read("status", "a\u0000")
    ]).toEqual([undefined, undefined, undefined, undefined, undefined])
    expect(read("id", "not an id")).toBeUndefined()
  })

  it("accept only finite numbers and keep them exact", () => {
    const number = { ...ID_COLUMN, kind: "number" } as const
    const integer = { ...ID_COLUMN, kind: "integer" } as const
    const of = (column: typeof number | typeof integer, value: string | number) =>
      bindScalar(column, value, systemCatalog.organization)
    expect([of(number, 1e21), of(number, 1e-7), of(number, 0.1), of(number, "9007199254740993.5")]).toEqual([
      "1000000000000000000000",
      "0.0000001",
      "0.1",
      "9007199254740993.5"
    ])
    expect([
      of(integer, "9007199254740993"),
      of(integer, 2 ** 53),
      of(integer, 1.5),
      of(integer, "9223372036854775808")
    ]).toEqual(["9007199254740993", undefined, undefined, undefined])
    for (const value of [Number.NaN, Infinity, -Infinity, "NaN", "Infinity", "1e5", "0x10", ""]) {
      expect(of(number, value)).toBeUndefined()
      expect(of(integer, value)).toBeUndefined()
    }
  })
})

describe("untrusted text", () => {
  it("is printed on one line without control, format and bidirectional characters", () => {
    expect(printable("a\u0000b\tc\r\nd\u202ee\u200bf\u{e0041}g\u2028h")).toBe("a b c defg h")
    expect(quoted("x".repeat(100))).toBe(`"${"x".repeat(39)}…"`)
  })

  it("is matched with the closest known name", () => {
    expect(closest("emial", ["name", "email"])).toBe("email")
    expect(closest("phnoe", ["phone", "name"])).toBe("phone")
    expect(closest("zzz", ["phone", "name"])).toBeUndefined()
  })
})
