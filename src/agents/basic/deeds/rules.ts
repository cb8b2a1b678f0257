/** The shapes of requests, each with the part of a request that it makes. `<name>` stands for phrases of the lexicon. */
import { Part, Setting } from "./Deed.ts"
import {
  background,
  column,
  handed,
  listed,
  moment,
  named,
  ofRows,
  owner,
  remove,
  reported,
  type Build,
  type Rule,
  shift,
  stretch,
  unsaid,
  update,
  value
} from "./parts.ts"
import { VALUE_RULES } from "./valueRules.ts"
import type { Word } from "./words.ts"

const OWNER = unsaid("owner")
const DONE = unsaid("done")
const ME = unsaid("me")

const isAllOfType = (part: ReturnType<Build>): boolean =>
  part !== undefined &&
  "_tag" in part &&
  part._tag === "Order" &&
  part.deed._tag === "Update" &&
  part.deed.subject._tag === "Rows" &&
  part.deed.subject.lookup.conditions.length === 0

export const RULES: ReadonlyArray<Rule> = [
  ...VALUE_RULES,
  [
    [
      "(rename|retitle|relabel|rebrand) {x} (to|as|into|=|->) {v}",
      "<rename> {x} to be called {v}",
      "(rename|retitle) {x} {v}",
      "(title|name) {x} {v}",
      "(change|set|edit|update) (the)? (title|name) of {x} so (that)? it (reads|says|is) {v}",
      "give {x} the (new)? (name|title) (of)? {v}",
      "{x} (needs|should have|should get|must have|deserves) a (better|new|different|clearer|shorter|longer) (name|title) (=|of)? {v}",
      "{x} should (read|say|be spelled|be spelt|be written) {v}",
      "(can|could|may|shall) {x} be (renamed|renamed to|called|retitled|retitled to|named) {v}"
    ],
    update(named)
  ],
  // "Change the consulting customers to services" renames none.
  [
    ["(change|call) {x} (to|as|into|=|->) {v}"],
    (captures, ...read) => (read[0](captures["x"]!)?._tag === "Rows" ? undefined : update(named)(captures, ...read))
  ],
  // "Let's call the Apollo tasks done" renames none.
  [
    ["call {x} {v}"],
    (captures, ...read) => {
      // "Call Nia about the keys" says no name.
      const [{ capital, quoted }] = captures["v"] as [Word]
      const isName = quoted === true || capital
      return isName && read[0](captures["x"]!)?._tag !== "Rows" ? update(named)(captures, ...read) : undefined
    }
  ],
  [
    [
      "{x} (should be|should now be|should get|needs to be|must be|has to be|will be|is now|is to be|ought to be|is going to be) (renamed|renamed to|called|named|titled|retitled|retitled to|known as) {v}"
    ],
    update(named, true)
  ],
  [
    [
      "<assign> {x} (over|across|back)? (to|over to|on to) {p}",
      "<assign> {x} from {o} (over)? to {p}",
      "(take|get|pull|move) {x} (off|off of|away from|from|out of) {o} and (give|hand|pass|assign|reassign|hand over|move) (it|him|her|them) (over)? to {p}",
      "(take|get|pull|move) {x} (off|off of|away from|from|out of) {o} 's (hands|plate|desk|list) and (give|hand|pass|assign|reassign|hand over|move) (it|him|her|them) (over)? to {p}",
      "(take|get|pull|move) {x} (off|off of|away from|from|out of) {o} and (put|place|leave) (it|him|her|them) (with|under) {p}",
      "(arrange for|want|need|like|have|ask for) {x} to be (assigned|reassigned|given|handed|handed over|transferred|moved|passed|passed on) (over)? to {p}",
      "(swap|replace|exchange|switch|change) {o} (out)? (for|with|by) {p} (on|for|at|in) {x}",
      "{x} (->|=>|→|=) {p}",
      "(put|sign|write|note) {p} down (for|on) {x}",
      "<assign> from {o} (over)? to {p} = {x}",
      "<assign> (over)? to {p} = {x}",
      "<assign> (the)? (ownership|owner|responsibility) (of|for) {x} (over)? to {p}",
      "<assign> (the)? (ownership|owner|responsibility) (of|for) {x} from {o} to {p}",
      "(put|place) {x} (under|with) {p}",
      "(put|place) {p} (in charge of|on|over) {x}",
      "(let|have|get) {p} (to)? <take> {x}",
      "(let|have|get) {p} (to)? <take> {x} (from|instead of|rather than) {o}",
      "(make|set|name|appoint) {p} (as)? (the)? (new)? <owner> (of|for|on) {x}",
      "(make|set|name|appoint) {p} {x} 's (new)? <owner>",
      "(make|set|name|appoint) {p} responsible for {x}",
      "(can|could|may|shall) {p} be (made|put)? (responsible for|in charge of|the owner of|on|assigned to|the assignee of|the assignee for) {x}",
      "(swap|replace|exchange|switch|change) {o} (out)? (for|with|by) {p}",
      "(make|have) {x} (belong to|owned by|assigned to) {p}",
      "make {x} (the)? (responsibility|job|task|problem|business) of {p}",
      "make {x} {p} 's (responsibility|job|task|problem|business)",
      "(i|we) (would like|want|need) {p} to (be|be the one|be the person) (responsible for|in charge of|on|assigned to|for) {x}",
      "(i|we) (would like|want|need) {p} to <take> {x}",
      "(change|switch|swap|update) {x} 's <owner> (over)? to {p}",
      "(assign|reassign|add|set) {p} (as|to be) (the)? (new)? <owner> (of|for|on|to) {x}",
      "(give|hand) {p} (the)? (ownership|responsibility) (of|for) {x}",
      "<assign> (over)? to {p}",
      "over to {p}",
      "i (want|need|would like) {p} on {x}",
      "(put|set|register|book|list) {x} (on|in|under|down to) {p} 's name",
      "(to be)? (assigned to|owned by|handled by|managed by) {p}",
      "(make|set|name|appoint) {p} (as)? (the|their|his|her|its)? (new)? <owner>",
      "(with)? {p} as (the|their|his|her|its)? (new)? <owner>",
      "{p} (takes over|will take over|is taking over|takes it|takes it over|takes this|will take it|will take this|does it|will do it|is on it)",
      "(the)? <owner> (is|should be|will be|=)? {p}",
      "(have|let|can|could) {p} <take> {x}",
      "{x} can (now|all)? be (assigned|reassigned|given|handed|handed over|transferred|passed|passed on|switched|looked after by|handled by|done by) (over|on)? (to)? {p}",
      "(can|could|may|shall) {x} be (assigned|reassigned|given|handed|handed over|transferred|moved|passed|switched) (over)? to {p}",
      "(put|set|get) {p} on {x}"
    ],
    update(handed)
  ],
  [
    ["{x} = {list}", "<set> {x} = {list}", "(update|change|edit|set) {x} (with|to have|=) {list}", "give {x} {list}"],
    listed
  ],
  [["<assign> {p} {x}"], ofRows(update(owner))],
  [
    [
      "i (will take|can take|am taking|will do|will handle|will pick up|take|am picking up|will look after) {x} (myself|on)?",
      "i (will take|can take|am taking|take) (over|on) {x} (myself)?",
      "i (will take|can take|am taking) (over|on)? {x} (from|off) {o}",
      "(put|set|register|book|list) {x} (on|in|under|down to) my name",
      "i am (going to do|going to take|going to handle|doing|handling) {x} (myself)?",
      "(assign|give|hand) {x} (over)? to (me|myself)"
    ],
    update(() => [Setting.Concept({ concept: "owner", value: [ME] })])
  ],
  [
    [
      "(tick|check|cross|sign) {x} off",
      "(tick|check|sign) off {x}",
      "(finish|finish off|finish up|complete|close|close out|close off|wrap up|resolve|finalize|finalise) {x}",
      "{p} (has|have) (finished|completed|done|wrapped up) {x}",
      "{p} (finished|completed|wrapped up) {x}",
      "(tick|check|cross) off {x}",
      "(all)? (done|finished) with {x}",
      "{x} can (now)? be (closed|closed out|ticked off|checked off|wrapped up|signed off)",
      "{x} is (all)? (finished|completed|complete|wrapped up|done and dusted)"
    ],
    // "Finish all tasks" is rather work to be done than a change.
    (captures, ...more) => {
      const part = update(() => [Setting.Value({ value: [DONE] })])(captures, ...more)
      return captures["p"] === undefined && isAllOfType(part) ? undefined : part
    }
  ],
  [["for {x} <set> (the|their)? {c} <to> {v}", "<set> (the)? {c} <to> {v} (for|on|of|in) {x}"], ofRows(update(column))],
  [
    ["(put|place|set|get|keep) {x} {h}"],
    (captures, read, calendar) => ofRows(update(value))({ ...captures, v: captures["h"]! }, read, calendar)
  ],
  [
    [
      "(unassign|deassign) {x}",
      "(clear|remove|empty|delete|erase) (who|whoever) (is|'s) (assigned to|responsible for|on) {x}",
      "(unassign|deassign) {x} from {p}",
      "take {x} (away|off|back)? from {p}",
      "take {x} off {p}",
      "(nobody|no one) (should be|is to be|must be) (assigned to|responsible for|on) {x}",
      "(take|get|pull) {p} off (of)? {x}",
      "(remove|unassign|deassign|free) {p} from {x}",
      "(take|get|remove|strike|cross) {p} 's name (off|off of|from) {x}",
      "(remove|take off|drop|clear) {p} as (the)? <owner> (of|from|on|for) {x}"
    ],
    update(({ p }) => [Setting.Column({ column: [OWNER], value: [], ...(p === undefined ? {} : { was: p }) })])
  ],
  [["{x} (is|are|'s|will be) due (on|by)? {t}"], update(moment, true)],
  // "Rotate keys by Friday".
  [["{x} (by|until|till) {t}"], update(({ t }) => [Setting.Concept({ concept: "due", value: t! })], true)],
  [["(i|we) (have)? (agreed|settled|decided) (on)? {t} for {x}"], update(moment, false)],
  [["(all|both|each)? due (on|by|at)? {t}", "(say|make it) {t}"], update(moment, "named")],
  [
    ["{x} (can wait|can slip|will wait|has to wait|must wait|can be left|can stay open) (until|till|to) {t}"],
    update(moment, true)
  ],
  [
    [
      "{x} (should be|must be|needs to be|has to be|is now|is to be) due (on|by)? {t}",
      "{x} (now)? (should|must|has to|have to|needs to|need to|ought to|is to|are to|has got to|had better) be (done|finished|completed|ready|wrapped up|delivered|closed) (by|on) {t}",
      "{x} (is|are|should be|must be|needs to be)? due (on|by)? {t} (not|instead of|rather than) (on|by)? {t2}"
    ],
    update(({ t, t2 }) => [Setting.Value({ value: t!, ...(t2 === undefined ? {} : { was: t2 }) })], true)
  ],
  [
    [
      "(make|set|mark) {x} (to be|as)? due (on|by|at)? {t}",
      "(make|set|mark) {x} (to be|as)? due (on|by|at)? {t} (instead of|rather than|and not|not) (on|by)? {t2}",
      "(can|could|may|shall) {x} be due (on|by|at)? {t}",
      "(make sure|ensure|see to it) (that)? {x} (is|gets) (done|finished|completed|ready|delivered) by {t}",
      "(i would|we would|i|we)? (want|like|need|have|get) {x} (to be)? due (on|by)? {t}"
    ],
    update(({ t, t2 }) => [Setting.Value({ value: t!, ...(t2 === undefined ? {} : { was: t2 }) })])
  ],
  [
    [
      "{p} <takes> {x}",
      "{o} (hands|gives|passes|is handing|is giving|is passing|will hand|will give|will pass) {x} (over|on)? to {p}",
      "{o} (hands|passes|is handing|will hand) {x} over to {p}",
      "{p} <takes> {x} from {o}",
      "{x} <goes> {p}",
      "{x} <goes> {p} (rather than|instead of) {o}",
      "{x} (moves|move|goes|go|switches|switch|passes|pass|changes|change) from {o} (over)? to {p}",
      "(we are|we 're|i am|they are) <assigning> {x} (over|across)? to {p}",
      "(we are|i am) <assigning> {x} from {o} (over)? to {p}",
      "(we have|i have|we 've) (assigned|reassigned|given|handed|handed over|passed|transferred|moved|switched|shifted) {x} (over)? to {p}",
      "{x} 's (new)? <owner> <be> {p}",
      "{p} (instead of|rather than|in place of) {o} (on|for) {x}",
      "{x} <becomes> {p} 's (job|task|responsibility|problem|turf|to do|to handle|to take care of|now)?",
      "{x} is {p} 's (job|task|responsibility|problem|turf)? now (and)? (not|no longer) {o} 's (job|task|responsibility|problem|turf)? (anymore|any more|any longer)?",
      "{p} <be> {x} 's (new)? <owner>"
    ],
    update(owner, true)
  ],
  [
    [
      "{p} (and)? not {o} (should|must|has to|is to|needs to|will) (have|get|own|take|do|handle) {x}",
      "{o} (should|must) (not|no longer) (have|get|own|do|handle|keep) {x} (anymore|any more|any longer)? (but)? {p} (should|must)"
    ],
    update(owner, true)
  ],
  // "Add dark mode isn't Yuki's any more, it's Lena's."
  [
    [
      "{x} (is|are) (not|no longer) {o} 's (job|task|responsibility|problem|turf)? (anymore|any more|any longer)? (but|it|it is|it 's|they are|now) (now)? {p} 's (job|task|responsibility|problem|turf)? (now)?",
      "{x} (is|are) (not|no longer) (with|on|assigned to) {o} (anymore|any more|any longer)? (but|it is|it 's|they are|now) (now)? (with|on|assigned to) {p} (now)?"
    ],
    update(owner, true)
  ],
  [
    [
      "{x} <must> be (done|handled|taken care of|owned|taken over|worked on|looked after|managed|covered|run) by {p} (not|instead of|rather than|and not|no longer) (by)? {o}",
      "{x} <must> be (handled|taken care of|owned|taken over|worked on|covered|run) by {p}"
    ],
    update(owner, true)
  ],
  [
    ["{o} (handed|gave|passed|transferred|has handed|has given|has passed|has transferred) {x} (over|on)? to {p}"],
    reported(owner)
  ],
  [
    [
      "{p} (has|owns|does|gets) (it|this)",
      "{p} (owns|will own|gets|will get|looks after|will look after|takes|will take|handles|will handle|manages|will manage) (it|this|him|her|them)"
    ],
    update(owner, "new")
  ],
  [
    [
      "{x} = {o} (can not|will not|could not) (and|but|so)? {p} (will|can|does|would)",
      "{x} = (not|no longer) {o} but (rather|now)? {p}"
    ],
    update(owner, true)
  ],
  [["{x} (is|are) mine (now)?"], update(() => [Setting.Concept({ concept: "owner", value: [ME] })], true)],
  // Who is willing isn't asked yet: "please assign it to him" follows.
  [["{p} <volunteers> <take> {x}"], update(owner, false)],
  [
    [
      "<later> {x} by {d}",
      "<later> {x} <back> by {d}",
      "<later> {x} <back> {d}",
      "<later> {x} {d}",
      "<later> {x} {d} (later|back|out)",
      "<later> {x} (to|for) {d} later",
      "<later> {x} (to be|to start|so it starts|so that it starts) {d} later",
      "(make|have|start|begin|let|get|put|set|schedule|change|do|hold) {x} (start|begin|to start|be|happen|to)? {d} later",
      "(make|have|start|begin|schedule) {x} (start|begin)? later by {d}",
      "(change|update) {x} (to)? {d} later",
      "<later> (the)? {c} (of|for|on) {x} (back|out)? by {d}",
      "(extend|prolong) (the)? {c} (of|for|on) {x} by {d}",
      "(extend|prolong) {x} 's {c} by {d}",
      "<later> (the)? {c} (of|for|on) {x} (back|out)? {d} (later)?",
      "<later> {x} 's {c} (back|out|later)? by {d}",
      "<later> {x} 's {c} (back|out|by)? {d} (later)?",
      "{x} 's {c} {d} later",
      "{x} 's {c} (can|may|could|should|must|needs to|has to|will|shall) (be|come|fall|move) (by)? {d} (later|back) (than it is|than it says|than planned|than now)?",
      "(the)? {c} (of|for|on|with) {x} (can|may|could|should|must|needs to|has to|will|shall) (be|come|fall|move) (by)? {d} (later|back) (than it is|than it says|than planned|than now)?",
      "(the|their|his|her|its) {c} (can|may|could|should|must|needs to|has to|will|shall) (be|come|fall|move) (by)? {d} (later|back) (than it is|than it says|than planned|than now)?",
      "(the)? {c} (of|for|on|with) {x} {d} later",
      // "Has to be two hours" says how long it takes.
      "{x} (should|needs to|must|has to|ought to|will|is going to) (start|begin|be|happen) (by)? {d} (later|back)",
      "{x} (should|needs to|must|has to|ought to|will|is going to) (be pushed back|be pushed|be delayed|be postponed|be moved|be moved back|move|move back|get pushed back) (by)? {d} (later|back)?",
      "{x} (is|'s|got|has been|was) (delayed|postponed|pushed back|pushed) by {d}",
      "(can|could|may|shall|let|have) {x} (start|begin|be|happen|take place|be moved|be pushed|be pushed back|be pushed out) (by)? {d} (later|back|out)",
      "{x} (can|could|may|should|must|needs to|has to|will) be (delayed|postponed|pushed back|pushed|put back|moved back|deferred|extended) (by)? {d}",
      "(can|could|may|shall) {x} be (delayed|postponed|pushed back|pushed|put back|moved back|deferred) (by)? {d}",
      "{x} <must> be (finished|done|ready|completed|delivered) {d} later (than it says|than it says now|than it is|than planned|than now)?",
      "(make|set|have) {x} (to be)? due {d} later",
      "add {d} to (the)? {c} (of|for|on) {x}",
      "add {d} to {x} 's {c}",
      "{x} (+|plus) {d}",
      "add {d} to (the)? start (time)? of {x}"
    ],
    shift(1)
  ],
  [
    [
      "<earlier> {x} by {d}",
      "<earlier> {x} {d}",
      "(bring|move|pull|bump|shift|push) {x} <forward> by {d}",
      "(bring|move|pull|bump|shift|push) {x} <forward> {d}",
      "(move|shift|reschedule|bring|push|pull|make|start|begin|have|get|put|set|schedule|change) {x} (start|begin|to start|be|to|to be)? {d} (earlier|sooner|ahead)",
      "{x} (should|needs to|must|has to|will) (start|begin|be|happen|be moved|move) {d} (earlier|sooner)",
      "(can|could|may|shall|let|have) {x} (start|begin|be|happen|take place|be moved) (by)? {d} (earlier|sooner)",
      "{x} <must> be (finished|done|ready|completed|delivered) {d} (earlier|sooner) (than it says|than it says now|than it is|than planned|than now)?",
      "(make|set|have) {x} (to be)? due {d} (earlier|sooner)",
      "(bring|move|pull|bump|shift|push) (the)? {c} (of|for|on) {x} <forward> (by)? {d}",
      "<earlier> (the)? {c} (of|for|on) {x} (by)? {d}",
      "(bring|move|pull|shift|push|set|make) (the)? {c} (of|for|on) {x} (by)? {d} (earlier|sooner)",
      "{x} 's {c} {d} (earlier|sooner)",
      "{x} 's {c} (can|may|could|should|must|needs to|has to|will|shall) (be|come|fall|move) (by)? {d} (earlier|sooner) (than it is|than it says|than planned|than now)?",
      "(the)? {c} (of|for|on|with) {x} (can|may|could|should|must|needs to|has to|will|shall) (be|come|fall|move) (by)? {d} (earlier|sooner) (than it is|than it says|than planned|than now)?",
      "(the|their|his|her|its) {c} (can|may|could|should|must|needs to|has to|will|shall) (be|come|fall|move) (by)? {d} (earlier|sooner) (than it is|than it says|than planned|than now)?",
      "(the)? {c} (of|for|on|with) {x} {d} (earlier|sooner)",
      "(bring|move|pull|bump|shift|push) {x} 's {c} <forward> (by)? {d}",
      "(can|could|may|shall) {x} be (brought forward|moved up|pulled forward|moved forward by|advanced) (by)? {d}"
    ],
    shift(-1)
  ],
  [["(extend|lengthen|prolong|stretch) {x} by {d}", "make {x} {d} longer", "add {d} to {x}"], stretch(1)],
  [["(shorten|cut|reduce|trim) {x} by {d}", "make {x} {d} shorter"], stretch(-1)],
  [
    [
      "(extend|lengthen|shorten|cut|reduce|make|set|change|trim) {x} (to|last|to last|be)? {d} (long)?",
      "(extend|lengthen|shorten|cut|reduce|make|set|change|trim) {x} (to|last|to last|be)? {d} (long)? (instead of|rather than|and not|not) {o}"
    ],
    update(({ d, o }) => [Setting.Concept({ concept: "length", value: d!, ...(o === undefined ? {} : { was: o }) })])
  ],
  [
    [
      "{x} (should|must|needs to|has to|ought to) (last|take|run) (for)? {d}",
      "{x} (should|must|needs to|has to|ought to) (last|take|run) (for)? {d} (instead of|rather than|and not|not) {o}"
    ],
    update(
      ({ d, o }) => [Setting.Concept({ concept: "length", value: d!, ...(o === undefined ? {} : { was: o }) })],
      true
    )
  ],
  [
    [
      "(away|out|off) with {x}",
      "<delete> {x}",
      "<delete> {x} (from|off|off of|out of|in|on) {place}",
      "(take|get|pull|strike|cross|clear|wipe|kick|knock|throw|toss) {x} (off|out|down|out of|off of|from) {place}",
      "(take|strike|cross) {x} (off|out)",
      "(call|cross|scratch|strike) {x} off",
      "(throw|take|cross|cancel|kick|toss|chuck) {x} out",
      "(want|like|need|have|get|see) {x} (to be)? <deleted> (from {place})?",
      "(want|like|need|have|get|see) {x} (to be)? <deleted>",
      "(want|like|need|have|get|see) {x} (to be)? <deleted> (from|off|out of) {place}"
    ],
    remove
  ],
  // "Clear Rotate keys" can mean done, emptied or deleted, so "clear" deletes sets of rows only, and no row by its name.
  [["clear {x}", "clear {x} (from|off|off of|out of|in|on) {place}"], ofRows(remove)],
  [
    [
      "{x} (can be|should be|needs to be|need to be|must be|has to be|is to be|ought to be|can now be|should now be) <deleted>",
      "{x} (can be|should be|needs to be|must be|has to be|is to be) <deleted> (from|off|out of) {place}",
      "(can|could|may|shall) {x} (be|get) <deleted>",
      "(can|could|may|shall) {x} (be|get) <deleted> (from|off|out of) {place}",
      "{x} (has to go|needs to go|can go|should go|must go)"
    ],
    remove
  ],
  [
    [
      "{x} <isno> (a|an|our|one of our|among our)? {n}",
      "{x} <isno> (a|an|our|one of our|among our)? {n} <anymore>",
      "(i|we) <begun> {x}",
      "(there is|there 's)? no (rush|hurry) (with|for|on|about) {x}",
      "(i|we) <done> {x}",
      "(i|we) <done> {x} {t}",
      "(i|we) <done> {x} (already|last night|this morning|yesterday|last week|today|just now)",
      "{x} (was|were) due (on|by)? {t}",
      "{p} (is|are|'s|has|have) (all)? (done|finished|through) with {x}",
      "{p} (is|are) (waiting|blocked|stuck) (on|for|by|with) (the|a|an|our|his|her|their)? {o} (for|on|with) {x}",
      "(i|we) (got|get|received|asked for|agreed on) (an|a|the|more|some)? (extension|delay|postponement|time) (for|on|of) {x}",
      "{p} (should|will|must|can|does|is) (not|no longer) (have|having|do|doing|own|owning|handle|handling|be on|work on|working on) {x}",
      "{p} (should|will|must|can|does|is) (not|no longer) (have|having|do|doing|own|owning|handle|handling|be on|work on|working on) {x} <anymore>",
      "{x} (is|are) not (that|so|very|really|all that) (important|urgent|critical|pressing)",
      "{x} (is|are) (important|urgent|critical|pressing)",
      "(work|working) (has|have)? (started|begun|began) on {x}",
      "(work|working) on {x} (has begun|has started|began|started|is under way|is underway|is done|is finished|is complete|has finished|has stopped)",
      "(there is|there 's) no (fixed|set|clear|real|firm)? {n} for {x}",
      "(there is|there 's) no (fixed|set|clear|real|firm)? {n} for {x} <anymore>",
      "{x} (will not|can not|could not|is not going to|does not) (make|meet|reach|hit|hold) {t}",
      "{x} (is|are|was) (filed|listed|put|kept|registered)? (in|under|on|with|at) the wrong {n}",
      "(the)? {c} (of|for) {x} (bounced|bounces|is wrong|was wrong|is outdated|is out of date|is invalid|is incorrect|is dead|does not work|no longer works|has changed|changed|is not right)",
      "(the|my|our|a|every)? (mail|e-mail|email|mails|e-mails|emails|letter|letters|post) to {x} (bounced|bounces|came back|comes back|keeps bouncing|keeps coming back) (again|twice|every time)?",
      "{x} 's {c} (bounced|bounces|is wrong|was wrong|is outdated|is out of date|is invalid|is incorrect|is dead|does not work|no longer works|has changed|changed|is not right)",
      "{x} has the wrong {n}",
      "(there is|there 's|this is|that is|that 's|it is|it 's)? (the)? wrong {n} (on|for|of|in|with|at) {x}",
      "{p} <begun> {x}",
      "{x} <farewell>",
      "{x} <farewell> <anymore>",
      "(reopen|reactivate|restart|resume) {x}",
      "<unneeded> {x}",
      "<unneeded> {x} <anymore>",
      "there is no need (for|to keep) {x}",
      "(i|we)? (just|have just)? (spoke|talked|chatted|met) (with|to) {x}",
      "{x} (just|has just)? (called|rang|phoned|wrote|emailed|e-mailed|mailed|texted)",
      "(i|we) (am|are) (stuck|blocked|late|behind|waiting|held up) (on|with|for) {x}",
      "{p} <cannot> (do|finish|complete|handle|manage|make|take care of|work on|get to|deal with) {x}",
      "{p} <cannot> (do|finish|complete|handle|manage|make|take care of|work on|get to|deal with) {x} <anymore>"
    ],
    background
  ],
  [
    [
      "<meet> {who}",
      "<unmet> {who} <while>",
      "<unmet> {who}",
      "{who} and i (need|have|want|ought) to (meet|talk|catch up|speak|sync|sync up|touch base)",
      "{who} (wants|would like|asked) to (meet|meet with me|talk|catch up|see me|talk to me|speak with me|meet me|speak to me)"
    ],
    ({ who }) => Part.Meet({ who: who! })
  ],
  [
    [
      "<doit> <it>",
      "(enter|note|record|set|save|put|add|log) <it> (down|in)? as (a|the|their|his|her)? (next|new)? (follow up|follow-up|follow up date|follow-up date)",
      "(move|push|shift|extend|postpone|delay|push back|push out) (the deadline|the due date|the date|it|that|this) (back|out|accordingly)?",
      "(update|record|note|change|reassign|assign|transfer|hand over|postpone|delay|reschedule|extend)",
      "<doit> <it> (up|over|in|for them|for her|for him|to match|to reflect that|to reflect this)",
      "(update|fix) (the crm|the system|the calendar|the database|the records|our records|my calendar|records|things)",
      "(update|change|fix) (the crm|the system|the calendar|the database|the records|our records) (to match|to reflect that|to reflect this)",
      "(reassign|assign|transfer|hand over|switch|move|hand|switch over|reassign over|pass on|pass) <it> (over|across)?",
      "(assign|reassign|give|hand|pass|transfer) <it> (over|on)? to (him|her|them)",
      "(file|put|move|record|list|get|set) <it> (under|in|into|to|on|with) (that|this) {n}",
      "(put|pop|get|add|enter|key|type) <it> (in|up|down|there|in there|into the system|in the system)",
      "do so",
      "(shorten|cut|trim|lengthen|stretch) <it> (down|accordingly|to that|to fit)?",
      "make (the|that|this) (switch|change|transfer|update|reassignment|move|edit|adjustment|handover) (happen)?",
      "(make|have) (that|this|it) (happen|so|done|official)"
    ],
    () => Part.Please()
  ]
]
