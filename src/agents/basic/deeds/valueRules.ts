/** The shapes of requests that name a column or a value; see rules.ts. */
import { Setting } from "./Deed.ts"
import { column, emptied, labelled, ofRows, type Rule, unsaid, update, value } from "./parts.ts"

const isNameColumn = (column: ReadonlyArray<{ readonly word: string }>) => /^(name|title)$/.test(column.at(-1)!.word)
const FOLLOW_UP = ["follow", "up"].map(unsaid)

/** Requests that name a column or a value. */
export const VALUE_RULES: ReadonlyArray<Rule> = [
  [
    [
      "<set> (the)? (value of)? (the)? {c} (of|for|on) {x} (from {o})? <to> {v}",
      "<set> (the)? {c} (of|for|on|with) {x} <to> (the)? {v}",
      "<set> (the)? {c} (of|for|on|with) {x} <to> (the)? {v} (not|instead of|rather than|and not) {o}",
      "<set> {x} 's {c} <to> (the)? {v} (not|instead of|rather than|and not) {o}",
      "<set> {x} 's {c} <to> {v}",
      "<set> {x} 's {c} from {o} <to> {v}",
      "<set> (the)? {c} (of|for|on) {x} from {o} <to> {v}",
      "<set> {x} 's {c} (field|value|column) <to> {v}",
      "<set> <whose> {c} <to> {v} (for|of) {x}",
      "<set> <be> (the)? {c} (of|for) {x} <to> {v}",
      "<set> {x} {c} <to> {v}",
      "{x} {c} (=|->|=>|→) {v}",
      "<set> (the|their|his|her|its)? (new)? {c} <to> {v}",
      "(the)? (new)? {c} (of|for|on) {x} (to|->|=|→) {v}",
      "{x} 's (new)? {c} (to|->|=|→) {v}",
      "(the)? {c} (of|for|on) {x} = (from)? {o} (->|=>|→|to) {v}",
      "{x} 's {c} = (from)? {o} (->|=>|→|to) {v}",
      "{x} {c} = (from)? {o} (->|=>|→|to) {v}",
      "{x} = (the)? {c} {o} (->|=>|→) {v}",
      "give {x} (the|a|an) (new)? {c} (of)? {v}",
      "(set|put|add|give|enter|use) (a|an|the)? (new)? {c} (of|to|=)? {v} (for|on|to) {x}",
      "give {x} {v} as (the|a|an|their|its|his|her)? (new)? {c}",
      "(add|enter|save|record|note|log|put in|fill in) (the|a|an|this)? (new)? {c} (for|to|of|on|under) {x} = {v}",
      "(set|use|make|put|enter|add|save|record|note|put in|fill in) {v} (as|for|as the|for the|as a) (new)? {c} (of|for|on) {x}",
      "(set|use|make|put|enter|add|save|record|note) {v} as {x} 's (new)? {c}",
      "(add|put|enter|save|record|note) (the|a|this|new|a new|the new)? {c} {v} (to|for|on|under) {x}",
      "(add|put|enter|save|record|note) {v} (to|on|in|under) (the)? {c} (of|for) {x}",
      "<adjust> (the)? {c} (of|for|on|with) {x} (up|down|back|forward|out)? (to|until|till) (the)? {v}",
      "<adjust> (the)? {c} (of|for) {x} (on|at|for) {t}",
      "<adjust> {x} 's {c} (up|down|back|forward|out)? (to|until|till) {v}",
      "(get|take) {x} 's {c} (up|down|back|forward|out) (to|until|till) {v}",
      "<adjust> (the|their|his|her|its)? {c} (up|down|back|forward|out)? (to|until|till) (the)? {v}",
      "(make|mark) {x} (a|an|as|as a|as an)? {s} {c}",
      "give {x} (a|an) {s} {c}",
      "(make|set) {x} 's {c} {s}",
      "(make|set) (the)? {c} (of|for) {x} {s}",
      "<set> who (is|'s) {c} (of|for) {x} <to> {v}"
    ],
    ({ t, ...captures }, ...read) => update(labelled)(t === undefined ? captures : { ...captures, v: t }, ...read)
  ],
  [
    ["(add|put|enter|save|record|note) {v} (to|on|under|in) {x} 's {c}"],
    // "put it on Lena's name" gives it to Lena.
    (captures, read, calendar) =>
      isNameColumn(captures["c"]!) ? undefined : update(labelled)(captures, read, calendar)
  ],
  [
    [
      "{x} (needs|need|should have|must have|gets|get|should get|must get|shall get) (a|an|the|their|his|her|its)? (new|next)? {c} (of|say|namely|=) {v}",
      "{x} (has|have|got|gets|get|needs|need|should get|must get|should have|shall get) (a|an|the|their|his|her|its)? new {c} = (the)? {v}",
      "{x} = (the|a|the new|a new|new)? {c} (is|is now|becomes|will be|should be|must be|changes to|moves to|goes to) (now)? (the)? {v}",
      "{x} = (the|a|the new|a new|new)? {c} (is|is now|becomes|will be|should be|must be) (now)? (the)? {v} (not|instead of|rather than|and not) {o}"
    ],
    update(column, true)
  ],
  [
    [
      "{x} (needs|need|should have|must have|gets|get|should get|must get|shall get) (a|an|the|their|his|her|its)? (new|next)? {c} (on|for|by) {t}",
      "(the)? {c} (of|for|on|with) {x} (should|must|has to|have to|needs to|need to|shall) (go|move|be moved|be shifted|be changed|be set|be pushed|change) (over|back|forward|out)? (to|on|till|until) {t}",
      "{x} 's {c} (should|must|has to|have to|needs to|need to|shall) (go|move|be moved|be shifted|be changed|be set|be pushed|change) (over|back|forward|out)? (to|on|till|until) {t}"
    ],
    update(({ c, t }) => [Setting.Column({ column: c!, value: t! })], true)
  ],
  [
    [
      "(correct|fix|change|update) {x} 's {c} (it|which|that) (says|is|reads|shows|said) {o} (and|but|while) (should|must|needs to|has to|ought to) (say|be|read|show) {v}",
      "(correct|fix|change|update) (the)? {c} (of|for|on) {x} (it|which|that) (says|is|reads|shows|said) {o} (and|but|while) (should|must|needs to|has to|ought to) (say|be|read|show) {v}"
    ],
    update(column)
  ],
  [
    [
      "{x} (wants|needs|prefers|would like|asked for|chose|gets|get|takes|should get) {v} (now)? (not|instead of|rather than|and not) {o}",
      "{x} (now)? (wants|needs|prefers|would like|asked for|chose) {v} (not|instead of|rather than|and not) {o}"
    ],
    update(value, true)
  ],
  [
    ["{x} (should have|must have|needs|gets|should get|should be|needs to be|needs to have|must be) (a|an)? {s} {c}"],
    // "needs a better name" says no name.
    (captures, ...read) => (isNameColumn(captures["c"]!) ? undefined : update(labelled, true)(captures, ...read))
  ],
  [
    [
      "(the)? {c} (of|for|on) {x} <be> (now|actually|currently)? {v}",
      "{x} 's (new)? {c} <be> (now|actually|currently)? {v}",
      "(the)? {c} (of|for|on) {x} <be> (now|actually|currently)? {v} (not|instead of|rather than|and not) {o}",
      "{x} 's (new)? {c} <be> (now|actually|currently)? {v} (not|instead of|rather than|and not) {o}",
      "{x} 's new {c} (is|'s|are|will be) (now)? {v}",
      "(their|his|her|its|the) new {c} (is|'s|are|will be) (now)? {v}",
      "(the)? new {c} (of|for) {x} (is|'s|are|will be) {v}",
      "(the)? next {c} (of|for|with) {x} (is|is on|should be|will be) (on)? {v}",
      "{x} (finally|now)? (has|got|has got|'s got) (a|an) (new)? {c} = {v}",
      "{x} <must> (have|get) (the|a|an)? {c} {v}",
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
      "(clear|empty|erase|delete|remove|blank|blank out|wipe|unset|reset) (the)? {c} (of|from|for|on) {x}",
      "(scrap|strike|cancel|kill|ditch|take out|throw out) (the)? {c} (date)? (of|for|on|with) {x}",
      "(scrap|strike|cancel|kill|ditch|take out|throw out) {x} 's {c} (date)?",
      "(take|get|pull|strike|drop|leave|cross) (the)? {c} (off|off of|out of|away from) {x}",
      "(take|get|strike) {x} 's {c} (off|away|out)",
      "(take|get|strike|leave) (the|its|their|his|her) {c} (off|away|out)",
      "(clear|empty|erase|blank|blank out|wipe|unset|reset) (the|its|their|his|her) {c}",
      "(leave|keep|set|make) (the|its|their|his|her) {c} (empty|blank|unset|to nothing|to empty)",
      "(leave|keep|set|make) {x} 's {c} (empty|blank|unset|to nothing|to empty)",
      "(leave|keep|set|make) (the)? {c} (of|for|on) {x} (empty|blank|unset|to nothing|to empty)"
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
    [
      "{x} (does not need|does not need to have|needs no|no longer needs|no longer has|should not have|should have no) (a|an|any)? {c} (any more|anymore|now)?",
      "(no|no more) {c} (anymore|any more|any longer|now|yet)? (for|on) {x}"
    ],
    update(emptied, true)
  ],
  [
    [
      "{x} <must> be followed up (with)? (on|by)? {t}",
      "{x} <must> be contacted again (on|by)? {t}",
      "(i|we)? (will|should|must|need to|have to|want to|would like to)? (follow up|follow-up) with {x} (on|by)? {t} (instead)?"
    ],
    update(({ t }) => [Setting.Column({ column: FOLLOW_UP, value: t! })], true)
  ],
  [
    ["(follow up|follow-up) (with them|with them all|with all of them)? (on|by)? {t}"],
    update(({ t }) => [Setting.Column({ column: FOLLOW_UP, value: t! })], "named")
  ],
  [
    [
      "{x} (wants|would like|asked|has asked|expects|prefers) (to hear from us|us to call|us to get in touch|a call|to be called|to be contacted) (again|back)? (on|by)? {t}",
      "(i|we) (have)? agreed with {x} (to call|that we call|that we will call|to talk|that we talk|to speak) (them|him|her)? (again|back)? (on)? {t}"
    ],
    update(({ t }) => [Setting.Column({ column: FOLLOW_UP, value: t! })], false)
  ],
  [
    [
      "(note|enter|record|write|put) (down)? for {x} (the|a)? {c} (=)? {v} (not|instead of|rather than|and not) {o}",
      "(note|enter|record|write|put) (down)? for {x} (the|a)? {c} (=)? {v}"
    ],
    update(column)
  ],
  [
    ["{x} (get|gets|should get|must get|will get|can have) {v} as (the|a|an|their|its|his|her) (new)? {c}"],
    update(column, true)
  ],
  [
    [
      "{x} (would like|wants|needs|prefers|asked for) (the|a|an|their|his|her|its)? (next|new)? {c} (to be)? (on|at|in|by)? {t} (instead)?",
      "{x} (would like|wants|needs|prefers|asked for) (the|a|an|their|his|her|its)? (next|new)? {c} (to be)? (on|at|in|by)? {t} (instead of|rather than|and not|not) {t2}"
    ],
    update(
      ({ c, t, t2 }) => [Setting.Column({ column: c!, value: t!, ...(t2 === undefined ? {} : { was: t2 }) })],
      true
    )
  ],
  [
    ["(we|i) (have)? lost {x}", "(we|i) (have)? lost {x} to (a|an|the|our|another|some)? {o}"],
    update(() => [Setting.Value({ value: [unsaid("lost")] })], false)
  ],
  [["(we|i) (have)? won {x}"], update(() => [Setting.Value({ value: [unsaid("won")] })], false)],
  [
    ["{x} (is|are|'s) (now)? ready for (the)? {v}", "{x} (is|are|'s) (now)? (status|stage|state) {v}"],
    update(value, true)
  ],
  [
    [
      "{x} is (now)? (a|an) {v} (task|card|ticket|one|item|matter) (now)? (not|and not|rather than|instead of|no longer) (a|an)? {o} (task|card|ticket|one|item|matter)?"
    ],
    update(value, true)
  ],
  [["{x} (is|are|'s) (now)? only (a|an|of)? {s} {c}"], update(labelled, true)],
  [
    ["(the)? (right|correct|new|proper|real|actual) (one|address|number) (is|should be|would be|=) (now)? {e}"],
    ({ e, ...rest }, ...read) => update(value, "named")({ ...rest, v: e! }, ...read)
  ],
  [["{s} {c} <fine> for {x}", "{s} {c} for {x}"], update(labelled, true)],
  [
    ["(the)? {c} (of|for|on) {x} can (wait|slip|move|stay) (until|till|to) {t}"],
    update(({ c, t }) => [Setting.Column({ column: c!, value: t! })], true)
  ],
  [["{s} {c} <fine>"], update(labelled, "named")],
  [
    ["{s} <fine>", "(all|both) (now)? (to|in|as)? {s}"],
    (captures, ...read) => update(value, "named")({ ...captures, v: captures["s"]! }, ...read)
  ],
  [
    ["(reopen|restart|resume|unblock) {x} (as|to|in|into|->|=>|→|and set it to|and put it in|and move it to) {v}"],
    update(({ v }) => [Setting.Concept({ concept: "status", value: v! })])
  ],
  [
    [
      "(take|get|pull|move|remove) {x} (out of|off|from|out from) {o} and (put|move|place|add) it (under|in|into|to|on) {v}"
    ],
    update(value)
  ],
  [
    [
      "(the|their|his|her|its)? (new)? {c} (is|'s|will be|becomes|should be|should say|should read|must be|has to be|needs to be) (now|currently|actually)? {v} (now|currently)?"
    ],
    update(column, "named")
  ],
  [
    ["(the|their|his|her|its)? {c} {e}"],
    ({ e, ...rest }, ...read) => update(column, "new")({ ...rest, v: e! }, ...read)
  ],
  [
    [
      "{x} (is|'s|are) (now)? (interested in|keen on) {v} (now)? (not|rather than|instead of|and not|and no longer) (in)? {o} (any more|anymore|any longer)?"
    ],
    update(value, true)
  ],
  [
    [
      "{x} (is|'s|are) (now)? (back|already|now|again) (to|in|at|on) {v}",
      "{x} (is|are|'s) (not|no longer) {o} (after all|any longer|any more|anymore)? (but)? (back|now|it 's|it is|both|all) (now)? (to|in|into)? {v} (now)?",
      "{x} (is|are|'s) (not|no longer|no more) {o} (after all|any longer|any more|anymore)? but (now|rather)? {v} (now)?"
    ],
    update(value, true)
  ],
  [["{x} (is|'s|are) interested in {v}", "{x} (wants|needs|would like) {v}"], update(value, "new")],
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
      "<set> {x} out of {o} (and|and back)? <to> (the|a|an)? {v}",
      "<set> {x} (up|down|back)? <to> (the|a)? {v} {c}",
      "<set> {x} from {o} <to> (the)? {v} {c}",
      "<mark> {x} <as> (a|an|the)? {v}",
      "(close|close out|finish|wrap up|finalize) {x} (out|off|up)? as {v}",
      "<mark> {x} <as> (having)? (the)? {v} {c}",
      "(mark|flag) {x} {v}",
      "(prioritize|prioritise|reprioritize|reprioritise|deprioritize|deprioritise|rank|rate|grade|schedule) {x} (as|to) {v}",
      "(put|place|set|get|keep) {x} (on|at|under) (the)? {v}",
      "(file|list|record|register|categorize|categorise) {x} (under|in|as) (the)? {v}",
      "(add|attach|link) {x} to (the)? {v} {c}",
      "(mark|flag|log|list|record) (as|down as) (a|an|the)? {v}",
      "(->|=>|→) (the)? {v}",
      "(set|move|change|switch|put|update) (over|up|back)? (to|into|as) (the|a)? {v}",
      "{x} (can|should) (now)? be (moved|changed|set|updated|switched|marked|put|turned|flipped|raised|lowered|bumped|upgraded|downgraded|promoted|demoted|escalated|increased|reduced) (over|up|back|down)? (to|as|into|in) (the)? {v}",
      "<set> {x} (up|down|along|on|back) <to> (the|a|an)? {v}",
      "(get|see to it that|see that|ensure|ensure that|make sure|make sure that) {x} (is|are|gets|get) (moved|changed|set|updated|switched|marked|put|raised|lowered)? (up|down)? (to|as|into|in)? (the)? {v}",
      "(get|bring|take) {x} (back)? into (the)? {v}",
      "{x} (->|=>|→|=) {v}",
      "{x} (->|=>|→) {v} (not|instead of|rather than|and not|no longer) {o}",
      "(can|could|may|shall) {x} be (moved|changed|set|updated|switched|marked|put|turned|flipped|raised|lowered|bumped|upgraded|downgraded|promoted|demoted|escalated|increased|reduced) (over|up|back|down)? (to|as|into|in) (the)? {v}",
      "(can|could|may|shall) {x} be (moved|changed|set|updated|switched|put|raised|lowered|bumped|upgraded|downgraded|promoted|demoted|escalated|increased|reduced) (over|up|back|down)? (to|into|in) (the)? {v} {c}"
    ],
    update(value)
  ],
  // "Mark as won: all qualified customers of Nadia's."
  [
    [
      "(mark|flag|set|list|log) (as|to) {v} = {x}",
      "(move|put|change|switch|send) (back)? (to|into) {v} = {x}",
      // "Set to Done every task Raj has on Platform".
      "(mark|flag|set|move|put|change|switch) (as|to|into) {v} {x}"
    ],
    ofRows(update(value))
  ],
  [
    [
      "<move> {x} (to|for|until|till|on to|over to|so it starts at|to start at|to begin at|back to|up to|forward to|out to|later to|to happen at|to take place at|to be at|start at|starting at)? {t}",
      "<move> {x} from {o} (to|until|till) {t}",
      "(start|begin|have|hold|make|let|do) {x} (start|begin|be|happen|take place)? {t}",
      "(start|begin|have|hold|make|let|do|move|shift|reschedule|change|push|put|set) {x} (start|begin|be|happen|take place|to)? {t} (instead of|rather than|and not|not) (at|on)? {t2}",
      "<move> (the)? (time|start|start time|date|day) (of|for) {x} to {t}",
      "(can|could|may|shall) {x} (be|start|begin|happen|take place|be moved|be rescheduled|be changed|be pushed|be pushed back|be brought forward|move) (to|until|for)? {t}"
    ],
    update(({ t, t2 }) => [Setting.Value({ value: t!, ...(t2 === undefined ? {} : { was: t2 }) })])
  ],
  [
    [
      "{x} (is moving|has moved|is now|'s now|should be|should start|should be moved|needs to be moved|needs to move|must be moved|has been moved|was moved|is being moved|has to be moved|should move|will be|is rescheduled|has been rescheduled|was rescheduled|should be rescheduled|needs to be rescheduled) (to|for|at|on|until)? {t} (instead)?",
      "{x} (is|was|'s|has been|'s been|got|must be|has to be|should be|needs to be|will be|is being) <postponed> (to|for|at|on|until|till) {t} (instead)?",
      "{x} <must> (start|begin|be|happen|take place|move|be moved|be rescheduled) (to|for|at|on|until)? {t} (instead)?",
      "{x} (starts|begins|is|happens|takes place|should start|should be|will start|will be) (at|on)? {t} (instead of|not|rather than) (at|on)? {t2}",
      "{x} (starts|begins|happens|takes place) (at|on)? {t} instead"
    ],
    update(({ t, t2 }) => [Setting.Value({ value: t!, ...(t2 === undefined ? {} : { was: t2 }) })], true)
  ],
  [
    [
      "<set> {x} (to|as|with|at|=) (the|a)? {c} (of|to|is|=)? {v}",
      "{x} = (the|a|the new|a new|new)? {c} (of|to|is)? {v}",
      "{x} = (the)? {c} from {o} to {v}",
      "<mark> {x} (as|with|to) (the)? {c} {v}"
    ],
    update(column)
  ],
  [
    [
      "{x} <moved> (over|along|back|on|up|down)? (from {o})? (to|into|in) (the|a)? {v}",
      "{x} <moved> from {o} (to|into) (the|a)? {v}",
      "{x} (both|all|each)? (change|changes|switch|switches|move|moves|go|goes|turn|turns) from {o} (over)? (to|into) (the|a)? {v}",
      "{x} <moved> (to|into) (the|a)? {v} (today|yesterday|this morning|this week|last week|just now)",
      "{x} <moved> (over|along|back|on|up|down)? (to|into|in) (the|a)? {v}",
      "{x} <moved> (over|along|back|on|up|down)? (to|into|in) (the|a)? {v} {c}",
      "{x} (belongs to|belongs in|belongs under|belongs on|belongs into|belongs with|is really part of|is actually part of|falls under|comes under|goes under|goes in|goes into|is part of) (the)? {v}",
      "{x} (belongs to|belongs in|belongs under|belongs with|falls under|comes under|goes under|goes in|goes into|is part of) (the)? {v} (now)? (not|instead of|rather than|and not|no longer) (to|in|under|with)? {o}",
      "{x} (belongs to|belongs in|belongs under|belongs on|belongs into|is part of) (the)? {v} {c}",
      "{x} (is|are|should be|must be|has to be|have to be|needs to be|need to be) (to be)? (listed|filed|recorded|registered|categorized|categorised) (under|in|as) (the)? {v} (instead of|rather than|not|and not) (under|in)? {o}",
      "{x} (is|are|should be|must be|has to be|have to be|needs to be|need to be) (to be)? (listed|filed|recorded|registered|categorized|categorised) (under|in|as) (the)? {v}",
      "{x} <becomes> (back)? (in|at|on|marked|marked as|set to|listed as|a|an|the|in the|at the|on the|changed to|moved to|updated to)? {v}",
      "{x} <becomes> (back)? (in|at|on|marked as|set to|in the|at the|on the)? (the|a)? {v} {c}"
    ],
    update(value, true)
  ],
  [
    [
      "(the)? {c} (of|for|on) {x} <agreed> (as|to be|for|at|to|on)? {v}",
      "(the)? {c} (of|for|on) {x} <agreed> with {p} (as|to be|for|at|to|on) {v}",
      "{x} 's {c} <agreed> (as|to be|for|at|to|on)? {v}",
      "{x} 's {c} <agreed> with {p} (as|to be|for|at|to|on) {v}"
    ],
    update(column, false)
  ],
  [["(the|their|its|his|her) {c} (to|->|=>|→) {v}"], update(column, "named")],
  [
    ["{x} 's {c} (is|'s) (now)? {e}", "(the)? {c} (of|for) {x} (is|'s) (now)? {e}"],
    ({ e, ...rest }, ...read) => update(column, true)({ ...rest, v: e! }, ...read)
  ],
  [["{x} 's {c} (is|'s|was) {v}", "(the)? {c} (of|for|on) {x} (is|'s|was) {v}"], update(column, false)],
  [
    [
      "{x} (is|are|'s|has|has been) (now|already|just)? (a|an|in|in the|at|at the)? {s}",
      "{x} (is|are|'s) (in|at|on) (the)? {s} {c}"
    ],
    (captures, read, calendar) => update(value, true)({ ...captures, v: captures["s"]! }, read, calendar)
  ]
]
