/**
 * Frames of requests: rows and a value, with any words of a class between them ("should now all be", "will be handling"). They are
 * read where no shape of rules.ts fits, and draft something only if the rows and the value are found as they are said.
 */
import { Deed, Part, Setting } from "./Deed.ts"
import { lengthAt } from "./lengths.ts"
import {
  type Build,
  column,
  emptied,
  labelled,
  named,
  ofRows,
  owner,
  type Rule,
  shift,
  stretch,
  unsaid,
  update,
  value
} from "./parts.ts"
import { couldBeName } from "./readSubject.ts"
import type { Captures } from "./shapes.ts"
import type { Word } from "./words.ts"

type Words = ReadonlyArray<Word>

const set = (words: string): ReadonlySet<string> => new Set(words.split(" "))

/** Words between rows and their new value; one of `ASKING` has to be among them. */
const LINK = set(
  "should must need needs has have to can will shall ought be been go goes get gets move moves moved drop drops slide slides slip slips become becomes switch switches change changes changed marked set put flipped turned pushed shifted bumped pulled slid postponed delayed deferred extended brought raised lowered escalated promoted demoted upgraded downgraded reset updated switched corrected given handed assigned reassigned transferred passed made now all both only just also again then over back up down as at in into on onto under for with a an the is are going gonna"
)
const ASKING = set(
  "should must need needs ought can will go goes get gets move moves drop drops slide slides slip slips become becomes switch switches gonna"
)
/** Words between a person and the rows that are to be theirs. */
const TAKING = set(
  "will should is are 's be being going gonna to now also take takes taking over on care of handle handles handling do does doing get gets getting own owns owning have look looks looking after manage manages managing run runs running pick picks picking up cover covers covering"
)
const TAKES = set(
  "take takes taking handle handles handling do does doing get gets getting own owns owning have look looks looking manage manages managing run runs running pick picks picking cover covers covering"
)
/** Words between rows and the column that they are to be without. */
const LACKING = set(
  "should must does do is are to need needs have has be been in under on any a an the with carry show longer no not really"
)

const isClass = (words: Words, members: ReadonlySet<string>, key: ReadonlySet<string>, most: number): boolean =>
  words.length <= most &&
  words.every(({ quoted, word }) => quoted !== true && members.has(word)) &&
  words.some(({ word }) => key.has(word))

const NO = set("not no")
/** Whether words are all of a frame's class. */
export const isFrame = (name: string, words: Words): boolean => {
  switch (name) {
    case "link":
      // "Ought to have been done": it wasn't.
      if (words.some(({ word }, at) => word === "have" && words[at + 1]?.word === "been")) return false
      return (
        isClass(words, LINK, ASKING, 7) ||
        (isClass(words, LINK, LINK, 7) && words.some(({ word }, at) => word === "to" && words[at + 1]?.word === "be"))
      )
    case "taking":
      return isClass(words, TAKING, TAKES, 6)
    case "lacking":
      return isClass(words, LACKING, NO, 7) && words.some(({ word }) => /^(should|must|needs?|to)$/.test(word))
    default: {
      const length = withoutMore(words)
      return (
        words.length <= 5 &&
        words.some(({ word }) => MORE.test(word) || word === "another") &&
        lengthAt(length)?.length === length.length
      )
    }
  }
}

/** Whether a word of the class stands beside the frame: then it belongs to it. */
const isCut = ({ lacking, link, taking, v, x }: Captures): boolean => {
  const before = (members: ReadonlySet<string>) => members.has(x?.at(-1)?.word ?? "") && x!.at(-1)!.quoted !== true
  const [next] = taking === undefined ? (v ?? []) : (x ?? [])
  const after = (members: ReadonlySet<string>) =>
    next !== undefined && next.quoted !== true && !next.capital && next.word !== "in" && members.has(next.word)
  return (
    (link !== undefined && (before(LINK) || after(LINK))) ||
    (taking !== undefined && after(TAKING)) ||
    (lacking !== undefined && before(LACKING))
  )
}

/** The rows with a value, which tells its column or stands beside its name. */
const valued =
  (isOrder: boolean): Build =>
  (captures, read) => {
    const { v, x } = captures
    // "needs a better name" says no name.
    if (isCut(captures) || /^(name|title)$/.test(v?.at(-1)?.word ?? "")) return undefined
    const subject = x === undefined ? undefined : read(x)
    if (subject === undefined || v === undefined) return undefined
    // "needs review" can mean that someone has to look at it.
    const isNeed = captures["link"]?.every(({ word }) => /^(needs?|only|just|now|a|an|the)$/.test(word)) === true
    const toPerson = couldBeName(v) && /^(to|with|at)$/.test(captures["link"]?.at(-1)?.word ?? "")
    const deeds = [
      ...(isNeed ? [] : [Deed.Update({ subject, settings: [Setting.Value({ value: v })] })]),
      Deed.Update({ subject, settings: [], list: v }),
      ...(toPerson ? [Deed.Update({ subject, settings: [Setting.Concept({ concept: "owner", value: v })] })] : [])
    ]
    return deeds.map((deed) => (isOrder ? Part.Order({ deed }) : Part.Statement({ deed, enough: true })))
  }

/** Only where it isn't cut from a longer frame. */
const whole =
  (build: Build): Build =>
  (captures, read, calendar) =>
    isCut(captures) ? undefined : build(captures, read, calendar)

/** A statement that asks for nothing by itself. */
const stated =
  (build: Build): Build =>
  (...args) => {
    const part = build(...args)
    return part !== undefined && "_tag" in part && part._tag === "Order"
      ? Part.Statement({ deed: part.deed, enough: false })
      : undefined
  }

const MORE = /^(more|extra|additional|further)$/
/** "one more week", "another hour": so long. */
const withoutMore = (words: Words): Words =>
  words
    .filter(({ word }) => !MORE.test(word))
    .map((each) => (each.word === "another" ? { ...each, word: "one" } : each))

const longer =
  (build: Build): Build =>
  (captures, ...more) =>
    build({ ...captures, d: withoutMore(captures["d"] ?? captures["more"]!) }, ...more)

/** A set and what it is to be, without any verb between. */
const verbless =
  (build: Build): Build =>
  (captures, ...more) =>
    [...captures["x"]!, ...(captures["v"] ?? [])].some(({ quoted, word }) => quoted !== true && ASKING.has(word))
      ? undefined
      : ofRows(build)(captures, ...more)

const OF_ROWS =
  /^(again|about|back|assigned|owned|belonging|handled|managed|due|that|which|who|in|on|at|for|with|of|from|by|not|and|or|except)$/

const ME = unsaid("me")

export const FRAMES: ReadonlyArray<Rule> = [
  [["{x} {link} {v}"], valued(false)],
  [
    [
      "<change> {x} (back|over|up|down|out)? (to|into|as|at|in|on|onto|under|with|for|back to|back in|back into|=) {v}",
      "(i|we) (need|want|would like) {x} (to be|to have|to go|to get|to read)? (at|in|on|as|marked|marked as|set to|under|with)? {v}"
    ],
    valued(true)
  ],
  [
    ["<change> {x} {v}", "call {x} {v}"],
    // "mark all tasks assigned to Lena done": the participle belongs to the rows.
    (captures, ...more) => (OF_ROWS.test(captures["v"]![0]!.word) ? undefined : valued(true)(captures, ...more))
  ],
  [
    [
      "{x} (belongs|belong) (in|on|under|to|with) (the)? {v}",
      "{x} (belongs|belong) (in|on|under|to|with) (the)? {v} (not|instead of|rather than) (to|in|on|under)? {o}"
    ],
    update(value, false)
  ],
  // "All of Sofia's won customers to Nadia": only a set needs no verb.
  [["{x} (all|both)? (over|on|back)? to {p}", "{x} (get|gets) {p}"], verbless(whole(update(owner)))],
  [
    ["{x} (back|over|up|down)? (to|into) (the)? {v}"],
    (captures, ...more) => {
      const v = captures["v"]!
      return couldBeName(v) && v.some(({ capital }) => capital) ? undefined : verbless(valued(true))(captures, ...more)
    }
  ],
  [["{x} (is|are|'s) {p} 's (now)?"], update(owner, false)],
  // "Tasks due after December 12 make them all low": the rows, and what is to be done with them.
  [
    [
      "{x} (make|set|mark|put|move|change|turn|switch) (them|these|those) (all|both)? (to|as|in|into)? (the|a)? {v}",
      "{x} (raise|lower|bump|drop|push|bring|send) (them|these|those) (all|both)? (up|down|back|over)? (to|into) (the|a)? {v}"
    ],
    ofRows(update(value))
  ],
  [["{x} (give|assign|hand|pass) (them|these|those) (all|both)? (over|on)? to {p}"], ofRows(update(owner))],
  [
    [
      "(unblock|reopen|restart|resume) {x} (and|then)? (put|set|move|mark|change|get) (it|them) (all|both)? (back)? (to|in|into|as) (the)? {v}"
    ],
    update(({ v }) => [Setting.Concept({ concept: "status", value: v! })])
  ],
  [["(call|name|title) it {v}"], update(named, "new")],
  [
    [
      "{x} (is|are|'s) (not|no longer) {o} (after all|any longer|any more|anymore)? (so|and)? (set|put|move|mark|change|get) (it|them)? (back)? (to|in|into|as) (the)? {v}"
    ],
    update(value, true)
  ],
  [["{x} (->|=>|→|=) due (on|by)? {t}"], update(({ t }) => [Setting.Concept({ concept: "due", value: t! })])],
  [["{x} (->|=>|→|=) (rename|renamed|rename it|call it|called) (to|as|into)? {v}"], update(named)],
  [["{x} {d} later"], whole(shift(1))],
  [["{x} {d} (earlier|sooner)"], whole(shift(-1))],
  [
    ["(leave|keep|make|set) {x} (unassigned|unowned|without an owner|without an assignee|without anyone)"],
    update(() => [Setting.Column({ column: [unsaid("owner")], value: [] })])
  ],
  [
    [
      "(take|get|pull|grab|collect) {x} and (give|hand|pass|assign|reassign) (it|them|these|those|all)? (over)? to {p}",
      "(take|get|pull|move) {x} (off|off of|away from|from) {o} and (put|place|get) (it|them|these|those) (all|both)? (on|onto|with|under) {p}",
      "(take|get|pull|move) {x} (off|off of|away from|from) {o} and (give|hand|pass|assign|reassign|hand over|move) (them|these|those) (all|both)? (over)? to {p}",
      "i take over {x} (from|off) {o}"
    ],
    update((captures) =>
      captures["p"] === undefined
        ? [Setting.Concept({ concept: "owner", value: [ME], was: captures["o"]! })]
        : owner(captures)
    )
  ],
  [["{x} <must> be mine (now)?"], update(() => [Setting.Concept({ concept: "owner", value: [ME] })], true)],
  [
    ["(make|have|keep|let) {x} (just|only) {d} (long)?"],
    update(({ d }) => [Setting.Concept({ concept: "length", value: d! })])
  ],
  [
    [
      "(a|the|here is the)? (new|changed|updated|correct|right) {c} (for|of|from) {x} (is|it is|=)? {e}",
      "(the)? {c} (for|of|on|from) {x} (is|was) (wrong|outdated|out of date|incorrect|not right) (it is|it should be|should be|it must be|it 's) {e}",
      "{x} 's {c} (is|was) (wrong|outdated|out of date|incorrect|not right) (it is|it should be|should be|it must be|it 's) {e}"
    ],
    ({ e, ...rest }, ...read) => update(column)({ ...rest, v: e! }, ...read)
  ],
  [
    ["(set|change|move|switch|put|update|push) (the|their|its|his|her) {c} (for|on|at) {t}"],
    ({ t, ...rest }, ...read) => update(column, "named")({ ...rest, v: t! }, ...read)
  ],
  [
    [
      "(raise|lower|bump|set|put|move|change|drop|push) (it|them|these|those|all)? (all|both)? (up|down|back)? to (a|the)? {s} {c}"
    ],
    update(labelled)
  ],
  [
    ["(clear|free|free up|clear out|empty|block off) my {t}"],
    ({ t }, read) => {
      const subject = read([...["all", "my", "meetings", "on"].map(unsaid), ...t!])
      return subject?._tag === "Rows" ? Part.Order({ deed: Deed.Delete({ subject }) }) : undefined
    }
  ],
  [["{x} (goes by|is called|is known as|is named) {v} (now|these days)?"], update(named, false)],
  [
    [
      "{x} is (interested in|keen on) {v} (not|rather than|instead of) {o}",
      "{x} is (now)? (interested in|keen on) {v} (now)?"
    ],
    update(value, false)
  ],
  [["in (the)? {c} (for|of|on) {x} (write|put|add|enter|note|say) (=)? {v}"], update(column)],
  [
    [
      "(the)? {c} (of|for|on) {x} (can|should|must|needs to|has to) be (emptied|cleared|removed|deleted|blanked|erased|wiped)",
      "<delete> (the)? {c} (we have|we 've got|i have|on file) (for|of|from|on) {x}"
    ],
    update(emptied)
  ],
  [["(tack|add|put|stick) {more} (onto|on to|on|to) {x}"], longer(stretch(1))],
  [
    ["(cut|shorten|reduce|trim|bring|extend|lengthen) {x} (down|up)? to {d}"],
    update(({ d }) => [Setting.Concept({ concept: "length", value: d! })])
  ],
  [
    ["(i|we) will (do|take|handle) {x} (instead of|in place of|rather than|for) {o}"],
    update(({ o }) => [Setting.Concept({ concept: "owner", value: [ME], was: o! })])
  ],
  [["(can|could|let|have) {p} (get|have) {x}"], update(owner)],
  [["{x} (gets|get|needs|need|should get|should have) (a|the)? (new)? {c} =? {v}"], update(column, true)],
  // "Give hardware to Raj" hands something over, rather than that Raj gets a product.
  [
    ["<change> (a|an|the)? {v} (on|onto|for|against) {x}", "(apply|add|attach|set|put|stick) (a|an|the)? {v} to {x}"],
    valued(true)
  ],
  [["(put|place|move) {x} (on|onto|over to) {p}", "<assign> {p} to {x}"], update(owner)],
  [["{x} (is|are|'s) for {p} (now)?"], update(owner, false)],
  [["{p} {taking} {x}"], whole(update(owner, true))],
  [
    ["(put|stick|place|get) my name (on|onto|to|against|by|beside) {x}", "(leave|give) {x} (to|with|for) me"],
    update(() => [Setting.Concept({ concept: "owner", value: [ME] })])
  ],
  [
    ["{x} (only|just)? (needs|takes|will take|will need|lasts|will last) (only|just)? {d}"],
    stated(update(({ d }) => [Setting.Concept({ concept: "length", value: d! })]))
  ],
  [
    ["{x} {link} (run|last|take|be)? {d} (long)?"],
    // "The demo needs an hour" asks for nothing by itself.
    (captures, ...more) =>
      captures["link"]!.every(({ word }) => /^needs?$/.test(word))
        ? undefined
        : whole(update(({ d }) => [Setting.Concept({ concept: "length", value: d! })], true))(captures, ...more)
  ],
  [["(trim|cut|shave|take|knock|chop) {d} (off|from|off of|out of) {x}", "make {x} {d} shorter"], stretch(-1)],
  [
    [
      "(get|have) {x} 's {c} (pushed|moved|changed|set|updated|corrected|put|switched|shifted|bumped) (back|out|up|over|forward)? (to|as) {v}",
      "for {x} <change> (the|their|its|his|her)? {c} (to|with|as|at|=|by) {v}",
      "(overwrite|replace|fill|fill in) (the|their|its|his|her)? {c} (with|by) {v} (for|of|on) {x}",
      "for {x} (overwrite|replace|fill|fill in) (the|their|its|his|her)? {c} (with|by) {v}",
      "(overwrite|replace|fill|fill in) {x} 's {c} (with|by) {v}"
    ],
    update(column)
  ],
  [
    [
      "(get|have) {x} (pushed|moved|changed|set|switched|shifted|bumped|put|marked) (back|out|up|over|down)? (to|as|for|in|under) {v}"
    ],
    valued(true)
  ],
  [
    ["(the)? {c} (was|is) {v} (for|of|on) {x}", "(the)? {c} (for|of|on) {x} (is|was|'s) {v}"],
    whole(update(column, false))
  ],
  [["(the|their|its|his|her)? {c} {link} {v}"], whole(update(column, "named"))],
  [
    ["<assign> {x} (over)? to {p} (with|and)? {list}"],
    ({ list, p, x }, read) => {
      const subject = read(x!)
      const settings = [Setting.Concept({ concept: "owner", value: p! })]
      return subject && Part.Order({ deed: Deed.Update({ subject, settings, list: list! }) })
    }
  ],
  [
    ["{p} (takes|gets|will take|should take|has) {x} off {o} 's (hands|plate|desk|list|shoulders)"],
    update(owner, true)
  ],
  [["{x} {lacking} {c}"], whole(update(emptied, true))],
  [
    [
      "(leave|keep|make|have|set) {x} (without|with no) (a|an|any)? {c}",
      "<change> {x} (off|out of) (any|its|their) {c}"
    ],
    update(emptied)
  ],
  [
    [
      "give {x} {more}",
      "give {x} {d} (more|extra|longer|on top)",
      "give {p} {more} (for|on|with|to finish|to do|to complete) {x}",
      "{x} (gets|should get) {more}",
      "{x} (gets|should get) {d} (more|extra|longer|on top)"
    ],
    longer(shift(1))
  ],
  // It says no more than what is so: "move the deadline" has to follow.
  [
    [
      "{x} (needs|takes|will need|will take|requires) (about)? {more}",
      "{x} (needs|takes|will need|will take|requires) {d} (more|extra|longer|on top)"
    ],
    longer(stated(shift(1)))
  ],
  [["<change> {x} (due|to be due|be due|start|to start) {d} (earlier|sooner)"], shift(-1)]
]
