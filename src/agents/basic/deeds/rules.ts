/** The shapes of requests, each with the part of a request that it makes. `<name>` stands for phrases of the lexicon. */
import { Part, Setting } from "./Deed.ts"
import {
  ofRows,
  update,
  column,
  labelled,
  moment,
  value,
  listed,
  owner,
  named,
  emptied,
  shift,
  stretch,
  remove,
  background,
  type Rule
} from "./parts.ts"

/** A word that the person hasn't said. */
const unsaid = (word: string) => ({ text: word, word, after: "", capital: false, start: 0, end: 0 })
const OWNER = unsaid("owner")
const DONE = unsaid("done")
const ME = unsaid("me")

export const RULES: ReadonlyArray<Rule> = [
  [
    [
      "<set> (the)? (value of)? (the)? {c} (of|for|on) {x} (from {o})? <to> {v}",
      "<set> (the)? {c} (of|for|on) {x} <to> {v}",
      "<set> {x} 's {c} <to> {v}",
      "<set> {x} 's {c} from {o} <to> {v}",
      "<set> (the)? {c} (of|for|on) {x} from {o} <to> {v}",
      "<set> {x} 's {c} (field|value|column) <to> {v}",
      "<set> <whose> {c} <to> {v} (for|of) {x}",
      "<set> <be> (the)? {c} (of|for) {x} <to> {v}",
      "<set> {x} {c} <to> {v}",
      "<set> (the|their|his|her|its)? (new)? {c} <to> {v}",
      "(the)? (new)? {c} (of|for|on) {x} (to|->|=|→) {v}",
      "{x} 's (new)? {c} (to|->|=|→) {v}",
      "give {x} (the|a|an) (new)? {c} (of)? {v}",
      "(set|use|make|put|enter|add|save|record|note|put in|fill in) {v} (as|for|as the|for the|as a) (new)? {c} (of|for|on) {x}",
      "(set|use|make|put|enter|add|save|record|note) {v} as {x} 's (new)? {c}",
      "(add|put|enter|save|record|note) (the|a|this|new|a new|the new)? {c} {v} (to|for|on|under) {x}",
      "(add|put|enter|save|record|note) {v} (to|on|under|in) {x} 's {c}",
      "(add|put|enter|save|record|note) {v} (to|on|in|under) (the)? {c} (of|for) {x}",
      "<adjust> (the)? {c} (of|for|on) {x} (up|down|back|forward|out)? (to|until|till) {v}",
      "<adjust> {x} 's {c} (up|down|back|forward|out)? (to|until|till) {v}",
      "<adjust> (the|their|his|her|its)? {c} (up|down|back|forward|out)? (to|until|till) {v}",
      "(make|mark) {x} (a|an|as|as a|as an)? {s} {c}",
      "give {x} (a|an) {s} {c}",
      "(make|set) {x} 's {c} {s}",
      "(make|set) (the)? {c} (of|for) {x} {s}",
      "<set> who (is|'s) {c} (of|for) {x} <to> {v}"
    ],
    update(labelled)
  ],
  [
    ["{x} (should have|must have|needs|gets|should get|should be|needs to be|needs to have|must be) (a|an)? {s} {c}"],
    update(labelled, true)
  ],
  [
    [
      "(the)? {c} (of|for|on) {x} <be> (now|actually|currently)? {v}",
      "{x} 's (new)? {c} <be> (now|actually|currently)? {v}",
      "{x} 's new {c} (is|'s|are|will be) (now)? {v}",
      "(their|his|her|its|the) new {c} (is|'s|are|will be) (now)? {v}",
      "(the)? new {c} (of|for) {x} (is|'s|are|will be) {v}",
      "{x} (has|got|has got|now has|'s got) a new {c} (which is|it is|it 's|of)? {v}",
      "{x} (has|got|has got|now has|changed|has changed|switched|has switched) (a|an|his|her|their|its)? (new)? {c} (it is|it 's|to|now) {v}",
      "(the)? {c} (of|for|on|with) {x} (has to be|must be|should be|needs to be|is|will be) (on|at)? {v}",
      "{x} 's {c} <changed> (from {o})? to {v}",
      "{x} 's {c} <changed> to {v}",
      "{x} 's {c} <changed> from {o} to {v}",
      "(the)? {c} (of|for) {x} <changed> to {v}",
      "{x} 's {c} <moved> to {v}",
      "(the)? {c} (of|for) {x} <moved> (back|forward|out|up)? to {v}"
    ],
    update(column, true)
  ],
  [
    [
      "(clear|empty|erase|delete|remove|blank|blank out|wipe|unset|reset) {x} 's {c}",
      "(clear|empty|erase|delete|remove|blank|blank out|wipe|unset|reset) (the)? {c} (of|from|for) {x}"
    ],
    update(emptied)
  ],
  [
    [
      "(clear|empty|erase|delete|remove|blank|blank out|wipe|unset|reset) (both)? (the)? {c} and (the)? {c2} (of|from|for) {x}"
    ],
    update(({ c, c2 }) => [...emptied({ c: c! }), ...emptied({ c: c2! })])
  ],
  [
    ["(the)? (new)? (status|stage|state) (is|to|=)? {v}"],
    update(({ v }) => [Setting.Concept({ concept: "status", value: v! })])
  ],
  [
    [
      "<set> {x} <to> (the|a|an)? {v}",
      "<set> {x} over to {v}",
      "(put|mark|list|note) {x} down for (the)? {v}",
      "(put|mark|list|note) {x} down (for|as) (the)? {v} (instead of|rather than) {o}",
      "<set> {x} from {o} <to> (the|a|an)? {v}",
      "<set> {x} <to> (the)? {v} {c}",
      "<set> {x} from {o} <to> (the)? {v} {c}",
      "<mark> {x} <as> (a|an|the)? {v}",
      "<mark> {x} <as> (having)? (the)? {v} {c}",
      "(mark|flag) {x} {v}",
      "(mark|flag|log|list|record) (as|down as) (a|an|the)? {v}",
      "(set|move|change|switch|put|update) (over|up|back)? (to|into|as) (the|a)? {v}",
      "{x} (can|could|may|should) (now)? be (moved|changed|set|updated|switched|marked|put|turned|flipped|raised|lowered) (over|up|back)? (to|as|into|in) (the)? {v}",
      "<set> {x} (up|down|along|on|back) <to> (the|a|an)? {v}",
      "(get|see to it that|see that|ensure|ensure that|make sure|make sure that) {x} (is|are|gets|get) (moved|changed|set|updated|switched|marked|put|raised|lowered)? (up|down)? (to|as|into|in)? (the)? {v}",
      "(get|bring|take) {x} (back)? into (the)? {v}",
      "{x} (->|=>|→|=) {v}",
      "(can|could|may|shall) {x} be (moved|changed|set|updated|switched|marked|put|turned|flipped) (over|back)? (to|as|into|in) (the)? {v}",
      "(can|could|may|shall) {x} be (moved|changed|set|updated|switched|put) (over|back)? (to|into|in) (the)? {v} {c}"
    ],
    update(value)
  ],
  [
    [
      "<move> {x} (to|for|until|till|on to|over to|so it starts at|to start at|to begin at|back to|up to|forward to|out to|later to|to happen at|to take place at|to be at|start at|starting at)? {t}",
      "<move> {x} from {o} (to|until|till) {t}",
      "(start|begin|have|hold|make|let|do) {x} (start|begin|be|happen|take place)? {t}",
      "<move> (the)? (time|start|start time|date|day) (of|for) {x} to {t}",
      "(can|could|may|shall) {x} (be|start|begin|happen|take place|be moved|be rescheduled|be changed|be pushed|be pushed back|be brought forward|move) (to|until|for)? {t}"
    ],
    update(moment)
  ],
  [
    [
      "{x} (is moving|has moved|is now|'s now|should be|should start|should be moved|needs to be moved|needs to move|must be moved|has been moved|was moved|is being moved|has to be moved|should move|will be|will start|is rescheduled|has been rescheduled|was rescheduled|needs to start|should be rescheduled|needs to be rescheduled|should begin) (to|for|at|on|until)? {t} (instead)?"
    ],
    update(moment, true)
  ],
  [
    [
      "<set> {x} (to|as|with|at|=) (the|a)? {c} (of|to|is|=)? {v}",
      "{x} = (the)? {c} (of|to|is)? {v}",
      "<mark> {x} (as|with|to) (the)? {c} {v}"
    ],
    update(column)
  ],
  [
    [
      "{x} <moved> (over|along|back|on|up|down)? (from {o})? (to|into|in) (the|a)? {v}",
      "{x} <moved> from {o} (to|into) (the|a)? {v}",
      "{x} <moved> (over|along|back|on|up|down)? (to|into|in) (the|a)? {v}",
      "{x} <moved> (over|along|back|on|up|down)? (to|into|in) (the|a)? {v} {c}",
      "{x} (belongs to|belongs in|belongs under|belongs on|is part of) (the)? {v}",
      "{x} <becomes> (back)? (in|at|on|marked|marked as|set to|listed as|a|an|the|in the|at the|on the|changed to|moved to|updated to)? {v}",
      "{x} <becomes> (back)? (in|at|on|marked as|set to|in the|at the|on the)? (the|a)? {v} {c}"
    ],
    update(value, true)
  ],
  [["{x} 's {c} (is|'s|was) {v}", "(the)? {c} (of|for|on) {x} (is|'s|was) {v}"], update(column, false)],
  [
    [
      "{x} (is|are|'s|was|has|has been) (now|already|just)? (a|an|in|in the|at|at the)? {s}",
      "{x} (is|are|'s) (in|at|on) (the)? {s} {c}"
    ],
    (captures, read, calendar) => update(value, true)({ ...captures, v: captures["s"]! }, read, calendar)
  ],
  [
    [
      "<rename> {x} (to|as|into|=|->) {v}",
      "<rename> {x} to be called {v}",
      "(rename|retitle|call) {x} {v}",
      "(title|name) {x} {v}",
      "give {x} the (new)? (name|title) (of)? {v}",
      "(can|could|may|shall) {x} be (renamed|renamed to|called|retitled|retitled to|named) {v}"
    ],
    update(named)
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
      "(make|have) {x} (belong to|owned by|assigned to) {p}",
      "(change|switch|swap|update) {x} 's <owner> (over)? to {p}",
      "(assign|reassign|add|set) {p} (as|to be) (the)? (new)? <owner> (of|for|on|to) {x}",
      "(give|hand) {p} (the)? (ownership|responsibility) (of|for) {x}",
      "<assign> (over)? to {p}",
      "i (want|need|would like) {p} on {x}",
      "(to be)? (assigned to|owned by|handled by|managed by) {p}",
      "(make|set|name|appoint) {p} (as)? (the|their|his|her|its)? (new)? <owner>",
      "(with)? {p} as (the|their|his|her|its)? (new)? <owner>",
      "(the)? <owner> (is|should be|will be|=)? {p}",
      "(have|let|can|could) {p} <take> {x}",
      "(can|could|may|shall) {x} be (assigned|reassigned|given|handed|handed over|transferred|moved|passed|switched) (over)? to {p}"
    ],
    update(owner)
  ],
  [
    ["{x} = {list}", "<set> {x} = {list}", "(update|change|edit|set) {x} (with|to have|=) {list}", "give {x} {list}"],
    listed
  ],
  [["<assign> {p} {x}"], ofRows(update(owner))],
  [
    [
      "i (will take|can take|am taking|will do|will handle|will pick up|take|am picking up|will look after) {x} (myself|on)?",
      "i (will take|can take|am taking) (over|on) {x} (myself)?",
      "(assign|give|hand) {x} (over)? to (me|myself)"
    ],
    update(() => [Setting.Concept({ concept: "owner", value: [ME] })])
  ],
  [
    [
      "(tick|check|cross|sign) {x} off",
      "(tick|check|sign) off {x}",
      "(finish|complete) {x}",
      "{p} (has|have) (finished|completed|done|wrapped up) {x}",
      "{p} (finished|completed|wrapped up) {x}",
      "(tick|check) off {x}",
      "{x} is (all)? (finished|completed|complete|wrapped up|done and dusted)"
    ],
    update(() => [Setting.Value({ value: [DONE] })])
  ],
  [["for {x} <set> (the|their)? {c} <to> {v}", "<set> (the)? {c} <to> {v} (for|on|of|in) {x}"], ofRows(update(column))],
  [
    ["(put|place|set|get|keep) {x} {h}"],
    (captures, read, calendar) => ofRows(update(value))({ ...captures, v: captures["h"]! }, read, calendar)
  ],
  [
    [
      "(unassign|deassign) {x}",
      "(unassign|deassign) {x} from {p}",
      "take {x} (away|off|back)? from {p}",
      "(take|get|pull) {p} off (of)? {x}",
      "remove {p} from {x}"
    ],
    update(({ p }) => [Setting.Column({ column: [OWNER], value: [], ...(p === undefined ? {} : { was: p }) })])
  ],
  [["{x} (is|are|'s|will be) due (on|by)? {t}"], update(moment, false)],
  [
    ["{x} (can wait|can slip|will wait|has to wait|must wait|can be left|can stay open) (until|till|to) {t}"],
    update(moment, true)
  ],
  [
    [
      "{x} (should be|must be|needs to be|has to be|is now|is to be) due (on|by)? {t}",
      "{x} (should be|must be|needs to be|has to be|is to be) (done|finished|completed|ready) (by|on) {t}"
    ],
    update(moment, true)
  ],
  [
    ["(make|set|mark) {x} (to be|as)? due (on|by)? {t}", "(want|like|need|have|get) {x} (to be)? due (on|by)? {t}"],
    update(moment)
  ],
  [
    [
      "{p} <takes> {x}",
      "{o} (hands|gives|passes|is handing|is giving|is passing|will hand|will give|will pass) {x} (over|on)? to {p}",
      "{o} (hands|passes|is handing|will hand) {x} over to {p}",
      "{p} <takes> {x} from {o}",
      "{x} <goes> {p}",
      "{x} <goes> {p} (rather than|instead of) {o}",
      "(we are|we 're|i am|they are) <assigning> {x} (over|across)? to {p}",
      "(we are|i am) <assigning> {x} from {o} (over)? to {p}",
      "(we have|i have|we 've) (assigned|reassigned|given|handed|handed over|passed|transferred|moved|switched|shifted) {x} (over)? to {p}",
      "{x} 's (new)? <owner> <be> {p}",
      "{p} (instead of|rather than|in place of) {o} (on|for) {x}",
      "{x} <becomes> {p} 's (job|task|responsibility|problem|turf|to do|to handle|to take care of|now)?",
      "{p} <be> {x} 's (new)? <owner>"
    ],
    update(owner, true)
  ],
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
      "<later> (the)? {c} (of|for|on) {x} (back|out)? {d} (later)?",
      "<later> {x} 's {c} (back|out|later)? by {d}",
      "<later> {x} 's {c} (back|out|by)? {d} (later)?",
      "{x} (should|needs to|must|has to|ought to|will|is going to) (start|begin|be|happen|be pushed back|be pushed|be delayed|be postponed|be moved|be moved back|move|move back|get pushed back) (by)? {d} (later|back)?",
      "{x} (is|'s|got|has been|was) (delayed|postponed|pushed back|pushed) by {d}",
      "(can|could|may|shall|let|have) {x} (start|begin|be|happen|take place|be moved|be pushed|be pushed back|be pushed out) (by)? {d} (later|back|out)",
      "(can|could|may|shall) {x} be (delayed|postponed|pushed back|pushed|put back|moved back|deferred) (by)? {d}",
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
      "(move|shift|reschedule|bring|push|make|start|begin|have|get|put|set|schedule|change) {x} (start|begin|to start|be|to|to be)? {d} (earlier|sooner|ahead)",
      "{x} (should|needs to|must|has to|will) (start|begin|be|happen|be moved|move) {d} (earlier|sooner)",
      "(can|could|may|shall|let|have) {x} (start|begin|be|happen|take place|be moved) (by)? {d} (earlier|sooner)",
      "(bring|move|pull|bump|shift|push) (the)? {c} (of|for) {x} <forward> (by)? {d}",
      "(bring|move|pull|bump|shift|push) {x} 's {c} <forward> (by)? {d}",
      "(can|could|may|shall) {x} be (brought forward|moved up|pulled forward|moved forward by|advanced) (by)? {d}"
    ],
    shift(-1)
  ],
  [["(extend|lengthen|prolong|stretch) {x} by {d}", "make {x} {d} longer", "add {d} to {x}"], stretch(1)],
  [["(shorten|cut|reduce|trim) {x} by {d}", "make {x} {d} shorter"], stretch(-1)],
  [
    ["(extend|lengthen|shorten|cut|reduce|make|set|change|trim) {x} (to|last|to last|be)? {d} (long)?"],
    update((all) => [Setting.Concept({ concept: "length", value: all["d"]! })])
  ],
  [
    [
      "<delete> {x}",
      "<delete> {x} (from|off|off of|out of|in|on) {place}",
      "(take|get|pull|strike|cross|clear|wipe|kick|knock) {x} (off|out|down|out of|off of|from) {place}",
      "(take|strike|cross) {x} (off|out)",
      "(call|cross|scratch|strike) {x} off",
      "(throw|take|cross|cancel) {x} out",
      "(want|like|need|have|get|see) {x} (to be)? <deleted> (from {place})?",
      "(want|like|need|have|get|see) {x} (to be)? <deleted>",
      "(want|like|need|have|get|see) {x} (to be)? <deleted> (from|off|out of) {place}"
    ],
    remove
  ],
  [
    [
      "{x} (can be|should be|needs to be|need to be|must be|has to be|is to be|ought to be|may be|could be|can now be|should now be) <deleted>",
      "{x} (can be|should be|needs to be|must be|has to be|is to be|may be|could be) <deleted> (from|off|out of) {place}",
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
      "{x} <farewell>",
      "{x} <farewell> <anymore>",
      "<unneeded> {x}",
      "<unneeded> {x} <anymore>",
      "there is no need (for|to keep) {x}",
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
      "(update|record|note|change)",
      "<doit> <it> (up|over|in|for them|for her|for him|to match|to reflect that|to reflect this)",
      "(update|fix) (the crm|the system|the calendar|the database|the records|our records|my calendar|records|things)",
      "(update|change|fix) (the crm|the system|the calendar|the database|the records|our records) (to match|to reflect that|to reflect this)",
      "(reassign|assign|transfer|hand over|switch|move|hand|switch over|reassign over|pass on|pass) <it> (over|across)?",
      "make (the|that|this) (switch|change|transfer|update|reassignment|move|edit|adjustment|handover) (happen)?",
      "(make|have) (that|this|it) (happen|so|done|official)"
    ],
    () => Part.Please()
  ]
]
