/** The English of requests to change. A name in `PHRASES` stands for its phrases in shapes. */
import { byWord } from "../../../domain/text.ts"

const list = (phrases: string): ReadonlyArray<string> => phrases.split("|").map((phrase) => phrase.trim())
const set = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/))

export const PHRASES: Readonly<Record<string, ReadonlyArray<string>>> = byWord({
  set: list(
    "update|set|change|edit|modify|correct|fix|amend|adjust|alter|switch|revise|make|put|bring|move|turn|flip|convert|promote|demote|lower|raise|advance|progress|bump|upgrade|downgrade|reset|replace|enter|record|kick|nudge|slide|send|drag|pull"
  ),
  change: list(
    "update|set|change|edit|drag|make|put|place|bring|move|turn|flip|switch|shift|convert|promote|demote|lower|raise|bump|reset|return|mark|flag|tag|get|have|keep|send|push|pull|slide|drop|declare|let|give|extend|postpone|delay|kick|pop|stick|slap"
  ),
  must: list(
    "should|must|has to|have to|needs to|need to|ought to|will|is to|are to|is going to|are going to|has got to|had better"
  ),
  done: list(
    "shipped|released|launched|dropped|cancelled|canceled|sent|signed|finished|completed|approved|reviewed|fixed|paid|closed|received|got|delivered|merged|deployed|published|have shipped|have released|have finished|have fixed|have closed|have dropped|have completed"
  ),
  volunteers: list(
    "has agreed to|agreed to|has offered to|offered to|has volunteered to|volunteered to|is happy to|is willing to|would like to|wants to|promised to|has promised to|has time to|can"
  ),
  begun: list(
    "started|have started|began|have begun|am starting|are starting|started working on|have started working on|started on|began working on|am working on|are working on|is working on|has started|has begun|has started working on|have started on|have had a look at|looked at|have looked at|have been working on"
  ),
  fine: list(
    "will do|would do|should do|is enough|is fine|is ok|is okay|is good enough|is plenty|is sufficient|is right|would be better|is better|would be right"
  ),
  adjust: list(
    "lower|raise|increase|decrease|reduce|drop|lift|extend|bring|push|move|postpone|delay|shift|defer|bump|pull|reschedule"
  ),
  away: list(
    "is on holiday|is on vacation|is on leave|is on parental leave|is on sick leave|is away|is off|is off sick|is out|is out of office|is out of the office|is sick|is ill|is unwell|is busy|is too busy|is very busy|is swamped|is overloaded|is overworked|is overwhelmed|has too much to do|has too much on|has too much work|has too many tasks|has a lot to do|has a lot on|has left|has left us|has left the company|has left the team|left|left us|left the company|left the team|is leaving|is leaving us|is leaving the company|is leaving the team|is going on holiday|is going on vacation|is going on leave|goes on holiday|goes on leave|has quit|quit|has resigned|has retired|retired|is retiring|is changing teams|is moving to another team|is not available|is unavailable|is not around|is not here|will be away|will be out|will be off|will be on holiday|will be on leave|will be on vacation|has been promoted|is no longer with us|is no longer on the team"
  ),
  cannot: list(
    "can not|will not|could not|is not able to|is unable to|has no time to|does not have time to|does not have the time to|will not be able to"
  ),
  mark: list(
    "mark|flag|label|tag|record|list|log|set|put|put down|register|classify|class|count|update|make|note|treat|show|move|change"
  ),
  move: list(
    "move|shift|reschedule|change|push|postpone|delay|bring|switch|set|put|update|push back|put back|push out|bump|rebook|defer|extend|adjust"
  ),
  postponed: list(
    "moved|rescheduled|postponed|put off|put back|pushed|pushed back|pushed out|delayed|deferred|brought forward|shifted|extended|moved up|moved back|moved forward"
  ),
  agreed: list(
    "is agreed|was agreed|has been agreed|is fixed|was fixed|has been fixed|was settled|has been settled|is confirmed|was confirmed|has been confirmed|was decided|has been decided"
  ),
  rename: list("rename|retitle|relabel|rebrand|change|call"),
  assign: list(
    "assign|reassign|re-assign|give|hand|hand over|hand off|pass|pass on|pass over|transfer|move|switch|shift|allocate|delegate|turn over|reallocate|entrust|route|send over|change"
  ),
  assigning: list(
    "assigning|reassigning|giving|handing|handing over|passing|passing on|transferring|moving|switching|shifting|allocating|delegating|turning over|reallocating"
  ),
  delete: list(
    "nuke|zap|delete|remove|cancel|drop|erase|get rid of|scrap|call off|scratch|purge|discard|eliminate|trash|bin|wipe|nix|axe|take out|take off|strike|cancel out|cross off|do away with|kill|throw out|throw away|clear out|clean out|clean up|weed out|toss|toss out|chuck|chuck out|ditch|dump|wipe out"
  ),
  deleted: list(
    "deleted|removed|cancelled|canceled|dropped|erased|scrapped|called off|scratched|cleared|purged|discarded|taken off|taken out|gone|wiped|binned|trashed|cleared out|thrown out|thrown away|tossed|ditched|cleaned up"
  ),
  create: list("create|insert|new|throw in|jot down|note down|write down|draw up"),
  /** They are also said of a row that is there: "start the checkout task". */
  createormove: list(
    "schedule|arrange|plan|organize|organise|pencil in|reserve|slot in|calendar|book|set up|make|put|put in|put down|open|start|log|block|block off|block out|fix|get|need|want|have|set"
  ),
  later: list(
    "push back|push|push out|delay|postpone|put back|defer|set back|bump back|move back|put off|hold off|bump|reschedule|shift|move|slide|slip"
  ),
  back: list("back|out|later|backwards"),
  earlier: list(
    "bring forward|bring up|move up|pull forward|pull in|pull up|advance|bump up|prepone|move earlier|push up"
  ),
  forward: list("forward|up|earlier|ahead"),
  be: list(
    "is now|'s now|is currently|should be|should now be|should read|should now read|should say|needs to be|need to be|must be|has to be|ought to be|will be|becomes|has become|became|is going to be|now is|should have been|is actually"
  ),
  becomes: list(
    "should be|should now be|should become|needs to be|need to be|must be|has to be|ought to be|is now|'s now|are now|has become|became|just became|has just become|is no longer open and now|will be|needs to become|needs to go|should go|can go|has to go|gets"
  ),
  changed: list(
    "changed|has changed|is changing|was changed|got changed|has been changed|'s changed|should change|needs to change|switches|switched|has to change|must change|will change|changes"
  ),
  moved: list(
    "goes back|has moved|'s moved|moved|is moving|'s moving|has progressed|progressed|has advanced|advanced|went|has gone|'s gone|is moved|has been moved|has changed|changed|has switched|switched|has dropped|has come|has just moved|just moved|has slipped|slips|slipped|slides|got moved|moves|moves on|has moved on|moved on|has moved over|should move|needs to move|should be moved|needs to be moved|should be changed|needs to be changed|should go|needs to go|has been promoted|was moved|has reached|reached|has now moved|is now moved|has entered|entered|has fallen|turned|has turned|is going|goes|have moved|should be set|needs to be set|should be updated|needs to be updated|can be moved|can be set|can be updated|can be changed|must be set|has to be set"
  ),
  to: list("to|into|over to|as|=|->|=>|→|onto|on to|back to|back into|back in|over into|across to"),
  have: list(
    "we have got|we have|we 've got|i have got|i have|there is|there 's|we just got|we got|i just got|i got|we have just got|we gained|we found|we signed up|we have found|here is|here 's|we are getting|i met|we met|we have gained|got|we just signed|we have signed|we picked up|we have picked up|we landed|meet"
  ),
  takes: list(
    "will do|will be working on|will work on|is going to work on|will take|is going to do|is doing|is taking over|takes over|will take over|has taken over|took over|taking over|is now responsible for|is responsible for|will be responsible for|is now in charge of|will look after|is looking after|looks after|will be looking after|will handle|will be handling|is handling|now handles|handles|owns|now owns|is now the owner of|will be the owner of|is going to own|should own|will own|should be the owner of|is the new owner of|becomes the owner of|is getting|gets|should get|should take over|should have|should handle|should look after|will manage|is managing|is now managing|now manages|manages|should manage|will take care of|is taking care of|takes care of|is picking up|picks up|will pick up|is taking on|takes on|will take on|is taking|takes|is going to take over|is going to handle|is assuming|has picked up|will be taking over|is inheriting|inherits|is now looking after|is now handling|is now taking care of|will now handle|will now look after|should be responsible for|'s taking over|'s now handling|'s handling|'s looking after|'s now responsible for|'s taking on|'s picking up|has agreed to take over|wants to take over|can take over|now has|now looks after|'s the new owner of|should be handling|should be looking after|should be in charge of"
  ),
  take: list(
    "take over|do|finish|complete|deal with|work on|handle|own|have|look after|take care of|manage|take on|pick up|take|run|be the owner of|be responsible for|be in charge of"
  ),
  goes: list(
    "better go to|had better go to|would better go to|ought to go to|is being worked on by|is worked on by|is now worked on by|will be worked on by|is being done by|is now being done by|is being dealt with by|is dealt with by|will be dealt with by|is being taken care of by|is taken care of by|will be taken care of by|should go to|can go to|may go to|could go to|must go to|has to go to|have to go to|goes to|is going to|is going over to|belongs to|now belongs to|should belong to|is being handed to|is being handed over to|is moving to|is moving over to|moves to|should be assigned to|needs to be assigned to|need to be assigned to|has to be assigned to|must be assigned to|should be reassigned to|needs to be reassigned to|is to be given to|gets assigned to|is assigned to|are assigned to|is now assigned to|is being reassigned to|is being transferred to|is being moved to|is being given to|will be handled by|should be handled by|is handled by|is now handled by|is being handled by|will be owned by|should be owned by|is owned by|is now owned by|is being taken over by|will be taken over by|was taken over by|has been taken over by|should be given to|needs to be given to|should be handed to|should be handed over to|needs to be handed over to|needs to be handed to|should be transferred to|needs to be transferred to|needs to go to|should be moved to|needs to be moved to|is now with|should be with|will be with|will be managed by|should be managed by|is managed by|is now managed by|is looked after by|will be looked after by|should be looked after by|needs to be looked after by|should move to|needs to move to|now goes to|has been handed to|has been assigned to|has been reassigned to|has been given to|was reassigned to|was handed to|were handed to|were given to|were assigned to|were moved to|were passed to|was given to|was assigned to|were handed over to|was passed to|is passing to|passes to|should be passed to|will go to|will be assigned to|are to be assigned to|is to be assigned to|will be under|should be under|is now under|'s being handed to|'s going to|'s moving to|'s being reassigned to|'s with"
  ),
  isno: list(
    "is no longer|are no longer|'s no longer|is not|has stopped being|stopped being|does not want to be|is no more|no longer is"
  ),
  farewell: list(
    "is no longer with us|is no longer needed|is no longer required|is no longer necessary|is no longer happening|will not happen|will not take place|is not going to happen|is not going to take place|is no longer relevant|is no longer working with us|is no longer on|has left us|has left|left us|left|is gone|'s gone|has churned|churned|is not needed|is not required|is not happening|is not going ahead|is not relevant|is off|'s off|is cancelled|is canceled|was cancelled|was canceled|has been cancelled|has been canceled|'s been cancelled|'s been canceled|has been called off|'s been called off|is called off|has fallen through|fell through|is obsolete|is a duplicate|is out of date|has stopped working with us|does not work with us|is not buying from us|cancelled|canceled|has cancelled|has closed their account|closed their account|has gone out of business|have gone out of business|asked to be deleted|asked to be removed|has asked to be removed|wants to be removed|wants to be deleted|is not a good fit|should not be there|should not be"
  ),
  unneeded: list(
    "we will not be doing|i will not be doing|we are not doing|we are not going to do|we will not be needing|i will not be needing|we will not need|i will not need|nobody needs|no one needs|nobody wants|no one wants|nobody uses|no one uses|nobody has to do|we no longer need to keep|we no longer need|we do not need to keep|we do not need|i no longer need|i do not need|we no longer want|we do not want|i no longer want|i do not want|we no longer work with|we are no longer working with|we do not work with|i can not make|i can not make it to|i can not attend|i will not make|i will not make it to|i will miss|i have to skip|i will not be able to make|we do not have|we are not having|we have lost|we lost|there is no need for|there is no need to keep|there is no point in keeping|we have no need for|we have no need to keep|we have no use for|we are done with|i have to miss|we can not make|we have stopped working with|we can forget about|we should not keep|we should stop keeping|i am done with|i am not able to make|i am not going to make"
  ),
  anymore: list("any more|anymore|any longer|now|in our records|on file|on record|around"),
  doit: list(
    "update|mark|flag|make|do|change|fix|record|save|apply|reflect|note|handle|log|enter|process|execute|action|register|carry out|put in|sort|sort out|edit|take care of|implement|adjust|correct|amend|set|get"
  ),
  it: list(
    "it|that|this|them|him|her|the due date|the date|the follow up|the follow-up|the follow-up date|the follow up date|the last contact|the deadline|the owner|the assignee|the priority|the phone|the number|the e-mail|the email|the change|that change|this change|the update|that update|this update|the changes|those changes|their record|their entry|their profile|the record|this record|that record|their status|the reassignment|the switch|the transfer|the move|the record accordingly|their record accordingly|it accordingly|them accordingly|that accordingly|their details|the details|the entry|this entry|that done|it done|this done|the status|her record|his record|her status|his status|it up"
  ),
  meet: list(
    "i need to catch up with|i want to catch up with|i would like to catch up with|i should catch up with|i have to catch up with|i need to meet with|i need to meet|i want to meet with|i want to meet|i would like to meet|i would like to meet with|i should meet|i should meet with|i need to talk to|i need to talk with|i need to speak with|i need to speak to|i want to talk to|i want to speak with|i need to sync with|i need to sync up with|i need to see|i want to see|i need to touch base with|i want to touch base with|i must catch up with|i am due a catch up with|i owe a catch up to|i would like to talk to|i would like to touch base with|i need some time with|i need time with|i want some time with|let us meet with|let us catch up with|it is time to catch up with|it is time to meet with|time to catch up with|i should talk to|i should speak with|i should see|i need to get together with|i want to get together with|i need to chat with|i want to chat with|i need to check in with|i want to check in with|we need to catch up with|we should catch up with|i promised to meet"
  ),
  unmet: list(
    "i have not met with|i have not met|i have not seen|i have not spoken to|i have not spoken with|i have not talked to|i have not talked with|i have not caught up with|i have not connected with|i have not had a meeting with|i have not had a chat with|i have not heard from|i did not meet with|i did not see|i did not meet|i never see|it has been a while since i met with|it has been a while since i met|it has been a while since i saw|it has been a while since i spoke with|it has been a while since i spoke to|it has been a while since i caught up with|it has been a while since i talked to|it has been too long since i met|it has been too long since i met with|it has been too long since i saw|it has been ages since i met|it has been ages since i met with|it has been ages since i saw|it has been ages since i spoke to|it 's been a while since i met with|it 's been a while since i met|it 's been a while since i saw|it 's been a while since i spoke to|it 's been a while since i spoke with|it 's been a while since i caught up with|it 's been a while since i talked to|it 's been ages since i met with|it 's been ages since i met|it 's been ages since i saw|it 's been too long since i met with|it 's been too long since i saw|it 's been too long since i met"
  ),
  while: list(
    "in a while|for a while|in ages|for ages|lately|recently|in a long time|for a long time|in weeks|for weeks|in months|for months|in some time|for some time|in too long|for too long|yet|in a bit|for quite a while|in quite a while|since forever|in forever"
  ),
  owner: list("owner|rep|sales rep|account manager|manager|account owner|contact person|assignee|responsible person"),
  as: list("as|down as|off as|up as|to be|being|as being|as having"),
  whose: list("their|his|her|its|the"),
  article: list("a|an|the|our|my|another|one of our|one more")
})

/** Names of columns that are read if they are misspelt, and other words that are one letter from them. */
export const COLUMN_NAMES: ReadonlyArray<string> = ["priority", "deadline", "status", "assignee"]
export const NEAR_COLUMN_NAMES = set("states stats statue statues stated assigned assigns assigner assignees deadlines")

/** Polite words before a request, and after it. */
export const OPENERS = list(
  "sorry for the noise|sorry for the noise again|sorry to bother you|sorry to bother you again|do not ask me why|do not ask why|do not ask|do not ask me|um|uh|er|hmm|ah|heads up|fyi|quick one|one more thing|be informed that|please be informed that|kindly be informed that|be advised that|please be advised that|this is to inform you that|please note that|kindly note that|make a note that|take note that|i am afraid|i am afraid that|i fear|two things|2 things|three things|3 things|a couple of things|a few things|i have decided|i have decided that|i decided|i decided that|we have decided|we decided|it was decided that|it has been decided that|it is decided|pleas|plese|please to|change of plan|change of plans|small change|one change|small correction|no wait|no sorry|would it be possible to|would it be ok to|would it be okay to|is it ok to|is it possible for you to|would it be possible for you to|any chance you could|any chance we could|is there any chance you could|do you think you could|do you think we could|can somebody|could somebody|can someone|could someone|would someone|please see to it that|see to it that|i would like it if|i would prefer it if|lets|wrong title|wrong name|clean-up|cleanup|housekeeping|i was told that|i was told|i am told|i hear|i hear that|sorry|oops|my mistake|my bad|correction|sorry wrong person|wrong person|sorry wrong project|wrong project|wrong date|sorry wrong date|wrong status|please|pls|plz|kindly|can u|could u|would u|pls can you|pls can u|hey max|hi max|hello max|hey|hi|hello|hi there|ok|okay|so|well|max|also|then|and|now|just|but|oh|right|thx|ty|tia|cheers|hiya|morning|good afternoon|can you|could you|would you|will you|can you please|could you please|can i|could i|can we|could we|may i|may we|would you please|i want you to|i need you to|i would like you to|i would like to|i want to|i need to|i have to|i wish to|i should|we need to|we should|we have to|we want to|we would like to|let us|you can|you may|you should|go ahead and|go on and|would you mind|do you mind|mind|could you go ahead and|make sure to|make sure that you|be sure to|remember to|do not forget to|be so kind as to|would you be so kind as to|would you be able to|are you able to|is it possible to|it would be great if you could|it would be nice if you could|i would be grateful if you could|i would appreciate it if you could|i would appreciate it if|i would be grateful if|it would be great if|it would be good if|it would be nice if|would be great if|would be good if|i would love it if|it is time to|time to|help me|help me to|let me|we are going to|i am going to|quickly|actually|instead|thanks|thank you|thank you so much|thanks so much|thanks in advance|good morning|quick one|fyi|heads up|small thing|good news|great news|bad news|quick update|one thing|one more thing|quick thing|quick favor|quick favour|as discussed|from now on|starting today|as of today|as of now|effective immediately|going forward|do me a favor and|do me a favour and|can you help me|could you help me|i was wondering if you could|try to|if you can|if you could|when you get a chance|when you have a moment|when you can|just to let you know|it turns out|it looks like|it seems|looks like|turns out|i heard|i just heard|i just heard that|sadly|unfortunately|apparently|we decided that|we have decided that|we agreed that|note that|to confirm|something came up|something has come up|something 's come up|something urgent came up|an emergency came up|i am not feeling well|i am sick|my plans changed|my plans have changed|plans changed|there has been a change of plans"
)
export const CLOSERS = list(
  "while you are in there|while you are at it|and thanks|and thank you|thanks to all|thanks to everybody|thanks to everyone|thanks everybody|thanks everyone|thanks all|until further notice|at the moment|at present|thanks and bye|thanks in advance|thanks so much|thank you so much|many thanks in advance|no rush|no hurry|no panic|no stress|no worries|no pressure|in today 's meeting|in yesterday 's meeting|at today 's meeting|at yesterday 's meeting|from today|from today on|as from today|starting today|same time|after all|again|these days|for good|please|pls|thanks|thx|ty|tia|thank you|thanks a lot|many thanks|thank you very much|cheers|for me|for us|if you can|if you could|if possible|if that is ok|if you do not mind|right now|right away|straight away|as of today|as of now|effective immediately|effective today|once and for all|for now|immediately|asap|as soon as possible|when you can|when you get a chance|when you have a moment|max|will you|would you|can you|could you|from now on|for the moment|for the time being|from here on|from here on out|going forward|now|today please|ok|okay|accordingly|too|as well|instead|permanently|completely|entirely|altogether|already"
)
/** Where the rows are kept, in people's words. */
export const PLACES = set(
  "crm system database calendar schedule agenda diary books list records pipeline tracker app directory contacts file files calendars books record roster planner sheet tool account"
)
export const PLACE_LEADS = list("in|on|from|to|into|within|inside|at|onto|off|off of|out of|across")

/** Words in an unquoted value that make it more than a value: the request says more than can be done. */
const BEYOND = set(
  "if unless when whenever because although though otherwise provided whether except until i we us you he him she her they them it its their his please also then instead meanwhile afterwards but who whom whose"
)
/** Verbs that begin another request after "and". */
export const OTHER_REQUESTS = set(
  "unblock reopen let tell notify email mail send remind call invite inform ask make move cancel add delete remove update set change assign reassign give hand schedule book create rename push delay postpone put mark get keep find show list check ensure copy cc message text ping schedule drop reschedule"
)
/** Words of conditions, of obligations, of days to come and of other rows: a clause with one says more than a reason. */
export const NO_REASON = set(
  "whichever whoever whomever whatever whenever wherever however if unless until when whenever once except but or either whether maybe perhaps should must need needs want wants ought shall let please same also too others other apart excluding excepting besides barring excluded minus rest likewise ditto instead and then each every all both remind ask tell email notify call monday tuesday wednesday thursday friday saturday sunday tomorrow next"
)
/** Pronouns that a reason begins with. */
export const REASON_PRONOUNS = set(
  "i we he she it they you nobody everybody everyone someone somebody noone that this there"
)
/** Verbs of a reason that don't end in "ed". */
export const REASON_VERBS = set(
  "am is are was were has have had 's does did can could will would told said came went left got gave knows thinks found lost won paid sent try tries took bought quit chose says feels looks seems works likes agreed became began fell keeps kept wrote deserves requires stands takes checks"
)
/** Words in place of a name that leave a row without an owner. */
export const NO_ONE = new Set(["nobody", "noone", "no one"])
/** Words for several rows. */
export const MANY = set("all every each both any everyone everybody several some most half these those")

export const ORDERS = byWord<"first" | "last" | "next">({
  first: "first",
  earliest: "first",
  "1st": "first",
  opening: "first",
  last: "last",
  latest: "last",
  final: "last",
  next: "next",
  upcoming: "next",
  coming: "next",
  nearest: "next",
  soonest: "next",
  closest: "next"
})

/** Words that never begin a subject. */
export const QUESTION_WORDS = set(
  "whichever whoever who what when which how where why is are was were do does did has have had if unless whether because not no never"
)
/** Words that no name of a person and no name of a column begins or ends with. */
export const FUNCTION_WORDS = set(
  "the a an of to for on at in with from by and or as over back out off about into has have had should is are was be been being 's my our your his her their its this that these those it them him they he she we you i now new if so than then"
)

/** Words that no value and no name begins with, and words that none ends with, unless they are quoted. */
const NOT_FIRST = set(
  "to as into of by from be is are was called named titled with and or than 's the a an my our back has have had should been being"
)
const NOT_LAST = set(
  "every each of to by from with at on in and or the a an as for is are was be my his her their our 's called named has have had should being been so"
)

/** Whether unquoted words begin and end as a name or a value does. */
export const isRounded = (
  words: ReadonlyArray<{ readonly word: string; readonly capital: boolean; readonly quoted?: true }>
): boolean =>
  (words[0]?.quoted === true ||
    (words[0]?.word === "to" && words[1]?.word === "do") ||
    !NOT_FIRST.has(words[0]?.word ?? "to") ||
    words[0]!.capital) &&
  (words.at(-1)?.quoted === true || !NOT_LAST.has(words.at(-1)?.word ?? "to"))

/** Whether a word makes unquoted words more than a name or a value; "IT" is one. */
export const isBeyond = ({ text, word }: { readonly text: string; readonly word: string }): boolean =>
  BEYOND.has(word) && (text.length < 2 || text !== text.toUpperCase())
